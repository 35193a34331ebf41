#include "agent/render.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

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
	size_t i;

	add_ending(r, out);
	if (r->outcome != SANDBOX_TIMEOUT_WALL || !*r->detail) { /* that detail is the time */
		buf_addstr(out, r->outcome == SANDBOX_EXIT ? " in " : " after ");
		add_time(out, r->metrics.wall_ms);
	}
	if (r->metrics.peak_memory_bytes >= 0) {
		buf_addstr(out, ", ");
		add_size(out, r->metrics.peak_memory_bytes);
	}
	for (i = 0; i < r->forbidden_count; i++) {
		buf_addf(out, "%s%s", i ? ", " : "; denied: ", r->forbidden[i].syscall);
		if (r->forbidden[i].count > 1)
			buf_addf(out, " x%llu", (unsigned long long)r->forbidden[i].count);
	}
	if (r->out.truncated || r->err.truncated)
		buf_addf(out, "; %s cut", !r->err.truncated ? "stdout" :
					  !r->out.truncated ? "stderr" : "stdout and stderr");
}

void render_isolation(const struct sandbox_isolation *x, struct buf *out)
{
	const struct {
		bool on;
		const char *name;
	} spaces[] = {
		{ x->userns, "user" }, { x->mountns, "mount" }, { x->pidns, "pid" },
		{ x->netns, "net" },   { x->ipcns, "ipc" },	{ x->utsns, "uts" },
		{ x->cgroupns, "cgroup" },
	};
	size_t i, count = 0;

	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		if (spaces[i].on)
			buf_addf(out, "%s%s", count++ ? ", " : "", spaces[i].name);
	buf_addstr(out, count ? " namespaces" : "no namespaces");
	buf_addstr(out, *x->seccomp ? "; seccomp" : "; no seccomp");
	if (x->landlock_abi)
		buf_addf(out, "; landlock %d", x->landlock_abi);
	buf_addf(out, "; memory by %s", x->memory_limit);
	if (!strcmp(x->memory_limit, "cgroup"))
		buf_addf(out, " %s", x->cgroup);
	buf_addf(out, "; uid %u", (unsigned int)x->uid);
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
	char key[32];

	if (with_text)
		json_set_bytes(object, name, s->bytes ? s->bytes : "", s->len);
	snprintf(key, sizeof(key), "%s_bytes", name);
	json_set_int(object, key, (int64_t)s->total);
	snprintf(key, sizeof(key), "%s_truncated", name);
	json_set_bool(object, key, s->truncated);
}

static struct json *forbidden_json(const struct sandbox_result *r)
{
	struct json *array = json_array();
	size_t i;

	for (i = 0; i < r->forbidden_count; i++) {
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
	size_t i;

	for (i = 0; i < r->artifact_count; i++) {
		const struct sandbox_artifact *a = &r->artifacts[i];
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

static struct json *metrics_json(const struct sandbox_metrics *m)
{
	struct json *object = json_object();

	json_set_number(object, "wall_ms", m->wall_ms);
	json_set(object, "user_ms", m->user_ms < 0 ? json_new_null() : json_new_number(m->user_ms));
	json_set(object, "system_ms",
		 m->system_ms < 0 ? json_new_null() : json_new_number(m->system_ms));
	set_known(object, "peak_memory_bytes", m->peak_memory_bytes);
	set_known(object, "peak_pids", m->peak_pids);
	set_known(object, "written_bytes", m->written_bytes);
	return object;
}

static struct json *isolation_json(const struct sandbox_isolation *x)
{
	struct json *object = json_object();

	json_set_bool(object, "userns", x->userns);
	json_set_bool(object, "pidns", x->pidns);
	json_set_bool(object, "netns", x->netns);
	json_set_bool(object, "mountns", x->mountns);
	json_set_bool(object, "ipcns", x->ipcns);
	json_set_bool(object, "utsns", x->utsns);
	json_set_bool(object, "cgroupns", x->cgroupns);
	set_text(object, "seccomp", x->seccomp);
	json_set_int(object, "landlock_abi", x->landlock_abi);
	json_set_string(object, "cgroup", x->cgroup);
	json_set_string(object, "memory_limit", x->memory_limit);
	json_set_string(object, "pids_limit", x->pids_limit);
	json_set_string(object, "cpu_limit", x->cpu_limit);
	json_set_int(object, "uid", (int64_t)x->uid);
	json_set_bool(object, "no_new_privs", x->no_new_privs);
	return object;
}

struct json *render_environment(const struct sandbox_environment *e)
{
	struct json *object = json_object();

	json_set_string(object, "language", e->language);
	json_set_string(object, "interpreter", e->interpreter);
	json_set_string(object, "version", e->version);
	json_set_string(object, "digest", e->digest);
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
	json_set(object, "metrics", metrics_json(&r->metrics));
	json_set(object, "isolation", isolation_json(&r->isolation));
	json_set(object, "environment", render_environment(&r->environment));
	json_set_string(object, "detail", *r->detail ? r->detail : NULL);
	return object;
}

/* --- artifacts on disk --- */

/* Whether a name stays below its folder and can do no harm to who lists it. */
static bool is_harmless(const char *path)
{
	cleanup_buf struct buf shown = BUF_INIT(1 << 20);
	const char *part, *end;

	if (!*path || *path == '/' || !utf8_valid(path, strlen(path)) || strpbrk(path, "\n\t"))
		return false;
	if (utf8_visible(&shown, path, strlen(path)) < 0 || strcmp(shown.data, path))
		return false;
	for (part = path; part; part = *end ? end + 1 : NULL) {
		end = strchrnul(part, '/');
		if (end == part || (end - part == 1 && *part == '.') ||
		    (end - part == 2 && part[0] == '.' && part[1] == '.'))
			return false;
	}
	return true;
}

/* A symbolic link planted below folder must not lead the write elsewhere. */
static int check_parents(const char *folder, const char *path, struct error *err)
{
	const char *slash;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		cleanup_free char *parent =
			mem_printf("%s/%.*s", folder, (int)(slash - path), path);
		cleanup_close int fd = io_open(parent, O_PATH | O_NOFOLLOW | O_DIRECTORY, 0);

		if (fd < 0 && errno != ENOENT)
			return error_set_errno(err, ERR_FAILED, errno,
					       "%s is no folder to write in", parent);
	}
	return 0;
}

static int save(const struct sandbox_artifact *a, const char *folder, struct error *err)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, a->path);
	cleanup_free char *parent = mem_strndup(path, (size_t)(strrchr(path, '/') - path));

	if (check_parents(folder, a->path, err) < 0 || io_make_dirs(parent, 0777, err) < 0)
		return -1;
	return io_replace_file(path, a->bytes, (size_t)a->size, 0666, err);
}

/* What the guest wrote must not become what another program obeys: no hidden
 * names (.git/config, .envrc), none that read as options, and nothing that is
 * there already is replaced. */
static const char *why_not_written(const char *folder, const char *name)
{
	cleanup_free char *path = mem_printf("%s/%s", folder, name);
	struct stat st;

	if (!is_harmless(name) || *name == '.' || *name == '-' || strstr(name, "/.") ||
	    strstr(name, "/-"))
		return "its name is not written to disk; the log has its bytes";
	if (lstat(path, &st) == 0)
		return "a file of that name is there already; the log has its bytes";
	return NULL;
}

int render_save_artifacts(const struct sandbox_result *r, const char *folder,
			  void (*tell)(const char *folder, const struct sandbox_artifact *a,
				       const char *why_not),
			  struct error *err)
{
	int count = 0;
	size_t i;

	for (i = 0; i < r->artifact_count; i++) {
		const struct sandbox_artifact *a = &r->artifacts[i];

		const char *why_not = a->kept ? why_not_written(folder, a->path) : a->why_not;

		if (!why_not && save(a, folder, err) < 0)
			return -1;
		count += !why_not;
		if (tell)
			tell(folder, a, why_not);
	}
	return count;
}
