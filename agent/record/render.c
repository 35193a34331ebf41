/*
 * Executions and their parts in JSON and in words, the same in the log, in documents and on the
 * terminal. What was not measured is left out, not shown as zero.
 */
#include "agent/record/render.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "verifier/tests.h"

#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- for people --- */

static void add_size(struct buf *out, int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1024;
	buf_addf(out, value < 10 && unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void render_cost(int64_t micro_usd, struct buf *out)
{
	int64_t rest = micro_usd % 1000000;
	int digits = 6;

	/* Of less than a dollar all that is not zero, of more the cents. */
	for (; digits > 2 && (rest % 10 == 0 || micro_usd >= 1000000); digits--)
		rest /= 10;
	buf_addf(out, "$%" PRId64 ".%0*" PRId64, micro_usd / 1000000, digits, rest);
}

static void add_time(struct buf *out, double ms)
{
	if (ms < 1000)
		buf_addf(out, "%.0f ms", ms);
	else
		buf_addf(out, "%.1f s", ms / 1000);
}

static void add_ending(const struct sandbox_result *r, struct buf *out)
{
	const char *abbreviation;

	switch (r->outcome) {
	case SANDBOX_EXIT:
		buf_addf(out, "exit %d", r->exit_code);
		return;
	case SANDBOX_SIGNAL:
		abbreviation = sigabbrev_np(r->signal);
		buf_addf(out, "killed by signal %d", r->signal);
		if (abbreviation)
			buf_addf(out, " (SIG%s)", abbreviation);
		return;
	case SANDBOX_TIMEOUT_WALL:
	case SANDBOX_TIMEOUT_CPU:
	case SANDBOX_MEMORY:
	case SANDBOX_OUTPUT_LIMIT:
	case SANDBOX_DISK_LIMIT:
	case SANDBOX_PROCESS_LIMIT:
	case SANDBOX_FORBIDDEN_SYSCALL:
	case SANDBOX_SETUP_FAILED:
	case SANDBOX_CANCELLED:
	default:
		buf_addstr(out, sandbox_outcome_name(r->outcome));
		if (*r->detail && strcmp(r->detail, sandbox_outcome_name(r->outcome))) {
			buf_addstr(out, ": ");
			utf8_visible(out, r->detail, strlen(r->detail));
		}
		return;
	}
}

void render_outcome(const struct sandbox_result *r, struct buf *out)
{
	add_ending(r, out);
	if (r->outcome != SANDBOX_TIMEOUT_WALL || !*r->detail) { /* that detail is the time */
		buf_addstr(out, r->outcome == SANDBOX_EXIT ? " in " : " after ");
		add_time(out, r->metrics.wall_ms);
	}
	if (r->metrics.peak_memory_bytes >= 0) {
		buf_addstr(out, ", ");
		add_size(out, r->metrics.peak_memory_bytes);
	}
	for (size_t i = 0; i < r->forbidden_count; i++) {
		buf_addf(out, "%s%s", i ? ", " : "; denied: ", r->forbidden[i].syscall);
		if (r->forbidden[i].count > 1)
			buf_addf(out, " x%llu", (unsigned long long)r->forbidden[i].count);
	}
	if (r->out.truncated || r->err.truncated)
		buf_addf(out, "; %s cut",
			 !r->err.truncated ? "stdout" :
			 !r->out.truncated ? "stderr" :
					     "stdout and stderr");
}

bool render_messages(const char *text, size_t len, struct buf *out)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *messages = json_parse(text, len, 0, &ignored);

	if (json_type(messages) != JSON_ARRAY)
		return false;
	for (const struct json *m = json_first(messages); m; m = json_next(m)) {
		const char *role = json_get_string(m, "role");
		const char *content = json_get_string(m, "content");

		buf_addf(out, "%s[%s]\n%s\n", out->len ? "\n" : "", role ? role : "",
			 content ? content : "");
	}
	return true;
}

/* --- JSON --- */

static void set_known(struct json *object, const char *key, int64_t n)
{
	if (n >= 0)
		json_set_int(object, key, n);
	else
		json_set_null(object, key);
}

static void set_text(struct json *object, const char *key, const char *text)
{
	json_set_string(object, key, text && *text ? text : NULL);
}

static void set_stream(struct json *object, const char *name, const struct sandbox_stream *s,
		       bool with_text)
{
	if (with_text)
		json_set_bytes(object, name, s->bytes ? s->bytes : "", s->len);
	char key[32];
	snprintf(key, sizeof(key), "%s_bytes", name);
	json_set_int(object, key, (int64_t)s->total);
	snprintf(key, sizeof(key), "%s_truncated", name);
	json_set_bool(object, key, s->truncated);
}

static struct json *forbidden_json(const struct sandbox_result *r)
{
	struct json *array = json_array();

	for (size_t i = 0; i < r->forbidden_count; i++) {
		struct json *call = json_object();

		json_set_string(call, "syscall", r->forbidden[i].syscall);
		json_set_int(call, "count", (int64_t)r->forbidden[i].count);
		json_set_string(call, "arch", r->forbidden[i].arch);
		json_append(array, call);
	}
	return array;
}

static struct json *artifacts_json(const struct sandbox_result *r)
{
	struct json *array = json_array();

	for (size_t i = 0; i < r->artifact_count; i++) {
		const struct sandbox_artifact *a = &r->artifacts[i];

		if (tests_is_state(a->path))
			continue;
		struct json *object = json_object();

		json_set_bytes(object, "path", a->path, strlen(a->path));
		json_set_int(object, "size", (int64_t)a->size);
		set_text(object, "type", a->type);
		set_text(object, "sha256", a->sha256);
		json_set_bool(object, "kept", a->kept);
		json_set_string(object, "why_not", a->why_not);
		json_append(array, object);
	}
	return array;
}

struct json *render_environment(const struct sandbox_environment *e)
{
	struct json *object = json_object();

	json_set_string(object, "language", e->language);
	json_set_string(object, "interpreter", e->interpreter);
	json_set_string(object, "version", e->version);
	json_set_string(object, "digest", e->digest);
	json_set_string(object, "sandbox", e->sandbox);
	if (e->from) { /* nobody else knows what is in it */
		json_set_string(object, "from", e->from);
		json_set_string(object, "packages", e->packages);
	}
	if (e->notes && *e->notes)
		json_set_string(object, "notes", e->notes);
	return object;
}

struct json *render_execution(const struct sandbox_result *r, const struct failure *failure,
			      bool with_streams)
{
	const struct failure none = { .class = FAILURE_NONE };
	struct json *object = json_object();

	json_set_string(object, "outcome", sandbox_outcome_name(r->outcome));
	set_known(object, "exit_code", r->exit_code);
	set_known(object, "signal", r->signal ? r->signal : -1);
	json_set(object, "forbidden", forbidden_json(r));
	set_stream(object, "stdout", &r->out, with_streams);
	set_stream(object, "stderr", &r->err, with_streams);
	json_set(object, "error", failure_json(failure ? failure : &none));
	json_set(object, "artifacts", artifacts_json(r));
	json_set(object, "metrics", sandbox_metrics_json(&r->metrics));
	json_set(object, "isolation", render_isolation_json(r));
	json_set(object, "environment", render_environment(&r->environment));
	json_set_string(object, "detail", *r->detail ? r->detail : NULL);
	return object;
}
