#include "agent/batch.h"

#include "base/io.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULTS_BYTES_MAX ((size_t)4 << 30)

/* --- opening, resuming --- */

/* One earlier line: kept when it still counts. */
static void keep_line(struct batch_results *r, const char *line, size_t len, bool retry_failed,
		      struct json *done, struct buf *kept)
{
	struct error ignored = ERROR_INIT;
	cleanup_json struct json *object = 
		json_parse(line, len, JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD, &ignored);
	const char *id = json_get_string(object, "id");
	const char *status = json_get_string(object, "status");

	if (!id || !status)
		return;
	/* What an interruption cut short has no result yet. */
	if (!strcmp(status, "cancelled") || (retry_failed && strcmp(status, "success")))
		return;
	r->failed_before += strcmp(status, "success") != 0;
	json_set_bool(done, id, true);
	buf_add(kept, line, len);
	buf_addch(kept, '\n');
}

static int resume(struct batch_results *r, bool retry_failed, struct json *done, struct error *err)
{
	cleanup_buf struct buf old = BUF_INIT(RESULTS_BYTES_MAX);
	cleanup_buf struct buf kept = BUF_INIT(RESULTS_BYTES_MAX);
	const char *at, *stop;

	if (io_read_file(r->path, &old, err) < 0)
		return -1;
	for (at = old.data; (stop = memchr(at, '\n', (size_t)(old.data + old.len - at)));
	     at = stop + 1)
		keep_line(r, at, (size_t)(stop - at), retry_failed, done, &kept);
	if (kept.len == old.len)
		return 0;
	return io_replace_file(r->path, kept.data, kept.len, 0644, err);
}

int batch_results_open(struct batch_results *r, const struct settings *settings,
		       struct json **ret_done, struct error *err)
{
	const struct option_values *given = settings->options->given;
	bool retry = given[OPT_RETRY_FAILED].count, again = retry || given[OPT_RESUME].count;
	struct json *done = json_object();
	struct stat st;

	*r = (struct batch_results){ .fd = -1 };
	*ret_done = done;
	if (!given[OPT_OUT].count) {
		if (again)
			return error_set(err, ERR_USAGE,
					 "--resume and --retry-failed need --out FILE");
		r->fd = settings->json ? -1 : dup(STDOUT_FILENO);
		return 0;
	}
	r->path = given[OPT_OUT].values[0];
	if (stat(r->path, &st) == 0 && st.st_size > 0) {
		if (!again)
			return error_set(err, ERR_USAGE,
					 "%s: exists already; --resume goes on with it, "
					 "--retry-failed repeats what did not succeed",
					 r->path);
		if (resume(r, retry, done, err) < 0)
			return -1;
	}
	r->fd = io_open(r->path, O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (r->fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", r->path);
	if (fstat(r->fd, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", r->path);
	r->good_len = st.st_size;
	return 0;
}

/* --- adding --- */

static void count(struct batch_results *r, const struct json *line)
{
	const struct json *usage = json_get(line, "usage");
	const char *status = json_get_string(line, "status");
	const char *level = json_get_string(line, "level");
	const char *error = json_get_string(line, "error");
	int rank = level ? level_parse(level) : -1;
	struct batch_outcome *o;

	r->outcomes = mem_array(r->outcomes, r->count + 1, sizeof(*r->outcomes));
	o = &r->outcomes[r->count++];
	*o = (struct batch_outcome){
		.id = mem_strdup(json_get_string(line, "id")),
		.status = mem_strdup(status ? status : "failed"),
		.level = mem_strdup(level ? level : "none"),
		.error = mem_strdup(error),
		.duration_ms = json_get_int(line, "duration_ms", 0),
	};
	if (strcmp(o->status, "success"))
		r->failed++;
	else
		r->success++;
	r->levels[rank >= 0 ? rank : LEVEL_NONE]++;
	r->input_tokens += json_get_int(usage, "input_tokens", 0);
	r->cached_tokens += json_get_int(usage, "cached_tokens", 0);
	r->output_tokens += json_get_int(usage, "output_tokens", 0);
	r->reasoning_tokens += json_get_int(usage, "reasoning_tokens", 0);
}

int batch_results_add(struct batch_results *r, const struct json *line, const char *text,
		      struct error *err)
{
	cleanup_free char *whole = mem_printf("%s\n", text);
	size_t len = strlen(whole);

	if (r->fd >= 0 && io_write_all(r->fd, whole, len, err) < 0) {
		/* Half a line would spoil a resume; a file can be put back. */
		if (r->path && ftruncate(r->fd, r->good_len) < 0)
			return error_wrap(err, "%s: and its last line is torn", r->path);
		return error_wrap(err, "%s", r->path ? r->path : "standard output");
	}
	r->good_len += (off_t)len;
	count(r, line);
	return 0;
}

int batch_results_close(struct batch_results *r, struct error *err)
{
	int rc = 0;
	size_t i;

	if (r->path && r->fd >= 0 && io_fsync(r->fd) < 0)
		rc = error_set_errno(err, ERR_FAILED, errno, "%s", r->path);
	if (r->fd >= 0 && io_close(r->fd) < 0 && !rc)
		rc = error_set_errno(err, ERR_FAILED, errno, "%s",
				     r->path ? r->path : "standard output");
	for (i = 0; i < r->count; i++) {
		free(r->outcomes[i].id);
		free(r->outcomes[i].status);
		free(r->outcomes[i].level);
		free(r->outcomes[i].error);
	}
	free(r->outcomes);
	*r = (struct batch_results){ .fd = -1 };
	return rc;
}

/* --- summing up --- */

struct json *batch_results_summary(const struct batch_results *r, int64_t duration_ms)
{
	struct json *object = json_object(), *levels = json_object(), *usage = json_object();
	int i;

	json_set_int(object, "total", (int64_t)(r->count + r->skipped));
	json_set_int(object, "success", (int64_t)r->success);
	json_set_int(object, "failed", (int64_t)r->failed);
	json_set_int(object, "skipped", (int64_t)r->skipped);
	for (i = LEVEL_NONE; i <= LEVEL_EXPECTED; i++)
		if (r->levels[i])
			json_set_int(levels, level_name((enum level)i), (int64_t)r->levels[i]);
	json_set(object, "levels", levels);
	json_set_int(usage, "input_tokens", r->input_tokens);
	json_set_int(usage, "cached_tokens", r->cached_tokens);
	json_set_int(usage, "output_tokens", r->output_tokens);
	json_set_int(usage, "reasoning_tokens", r->reasoning_tokens);
	json_set(object, "usage", usage);
	json_set_int(object, "duration_ms", duration_ms);
	return object;
}

/* XML 1.0 text: what it cannot hold is made visible first. */
static void xml(struct buf *out, const char *text)
{
	cleanup_buf struct buf clean = BUF_INIT((size_t)16 << 20);
	const char *p;

	utf8_visible(&clean, text, strlen(text));
	for (p = clean.data; *p; p++) {
		const char *entity = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '&' ? "&amp;" :
				     *p == '"' ? "&quot;" : NULL;

		if (entity)
			buf_addstr(out, entity);
		else
			buf_addch(out, *p);
	}
}

static void junit_case(struct buf *out, const struct batch_outcome *o)
{
	buf_addstr(out, "  <testcase name=\"");
	xml(out, o->id);
	buf_addf(out, "\" classname=\"assay.%s\" time=\"%.3f\"", o->level,
		 (double)o->duration_ms / 1000);
	if (!strcmp(o->status, "success")) {
		buf_addstr(out, "/>\n");
		return;
	}
	/* JUnit's two failures: the answer was wrong; there was none. */
	buf_addf(out, ">\n    <%s type=\"%s\" message=\"",
		 !strcmp(o->status, "failed") || !strcmp(o->status, "unverified") ?
			 "failure" : "error",
		 o->status);
	xml(out, o->error ? o->error : o->status);
	buf_addf(out, "\"/>\n  </testcase>\n");
}

int batch_results_junit(const struct batch_results *r, const char *path, const char *suite,
			struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT((size_t)1 << 30);
	size_t i, failures = 0, errors = 0;
	int64_t total_ms = 0;

	for (i = 0; i < r->count; i++) {
		const char *s = r->outcomes[i].status;

		total_ms += r->outcomes[i].duration_ms;
		if (!strcmp(s, "failed") || !strcmp(s, "unverified"))
			failures++;
		else if (strcmp(s, "success"))
			errors++;
	}
	buf_addstr(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
	xml(&out, suite);
	buf_addf(&out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n",
		 r->count, failures, errors, (double)total_ms / 1000);
	for (i = 0; i < r->count; i++)
		junit_case(&out, &r->outcomes[i]);
	buf_addstr(&out, "</testsuite>\n");
	return io_replace_file(path, out.data, out.len, 0644, err);
}
