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

/* --- outcomes --- */

void batch_outcome_read(struct batch_outcome *ret, const struct json *line)
{
	const char *status = json_get_string(line, "status");
	const char *level = json_get_string(line, "level");

	*ret = (struct batch_outcome){
		.id = mem_strdup(json_get_string(line, "id")),
		.status = mem_strdup(status ? status : "failed"),
		.level = mem_strdup(level ? level : "none"),
		.error = mem_strdup(json_get_string(line, "error")),
		.duration_ms = json_get_int(line, "duration_ms", 0),
	};
}

void batch_outcome_release(struct batch_outcome *o)
{
	free(o->id);
	free(o->status);
	free(o->level);
	free(o->error);
}

/* --- opening, resuming --- */

int batch_results_begin(struct batch_results *r, const struct settings *settings,
			struct error *err)
{
	const struct option_values *given = settings->options->given;
	bool again = given[OPT_RETRY_FAILED].count || given[OPT_RESUME].count;
	struct stat st;

	*r = (struct batch_results){ .fd = -1 };
	if (!given[OPT_OUT].count)
		return again ? error_set(err, ERR_USAGE,
					 "--resume and --retry-failed need --out FILE") : 0;
	r->path = given[OPT_OUT].values[0];
	if (stat(r->path, &st) < 0 || !st.st_size)
		return 0;
	if (!again)
		return error_set(err, ERR_USAGE,
				 "%s: exists already; --resume goes on with it, "
				 "--retry-failed repeats what did not succeed",
				 r->path);
	return batch_earlier_read(&r->earlier, r->path, err);
}

int batch_results_open(struct batch_results *r, const struct settings *settings,
		       struct error *err)
{
	struct stat st;
	size_t i;

	if (!r->path) {
		r->fd = settings->json ? -1 : dup(STDOUT_FILENO);
		return 0;
	}
	for (i = 0; i < r->earlier.count; i++)
		r->failed_before += !r->earlier.lines[i].dropped &&
				    strcmp(r->earlier.lines[i].status, "success") != 0;
	if (batch_earlier_write(&r->earlier, r->path, err) < 0)
		return -1;
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
	struct batch_outcome *o;
	int rank;

	r->outcomes = mem_array(r->outcomes, r->count + 1, sizeof(*r->outcomes));
	o = &r->outcomes[r->count++];
	batch_outcome_read(o, line);
	rank = level_parse(o->level);
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

	/* EINVAL: a pipe or a device, which has nothing to be flushed to. */
	if (r->path && r->fd >= 0 && io_fsync(r->fd) < 0 && errno != EINVAL)
		rc = error_set_errno(err, ERR_FAILED, errno, "%s", r->path);
	if (r->fd >= 0 && io_close(r->fd) < 0 && !rc)
		rc = error_set_errno(err, ERR_FAILED, errno, "%s",
				     r->path ? r->path : "standard output");
	for (i = 0; i < r->count; i++)
		batch_outcome_release(&r->outcomes[i]);
	free(r->outcomes);
	batch_earlier_release(&r->earlier);
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
		if (!strncmp(p, "\xef\xbf\xbe", 3) || !strncmp(p, "\xef\xbf\xbf", 3)) {
			buf_addstr(out, "\xef\xbf\xbd");	/* no characters of XML's */
			p += 2;
			continue;
		}
		const char *entity = *p == '<' ? "&lt;" : *p == '>' ? "&gt;" : *p == '&' ? "&amp;" :
				     *p == '"' ? "&quot;" : NULL;

		if (entity)
			buf_addstr(out, entity);
		else
			buf_addch(out, *p);
	}
}

/* JUnit's two failures: the answer was wrong; there was none. */
static const char *junit_fault(const struct batch_outcome *o)
{
	if (!strcmp(o->status, "success"))
		return NULL;
	return !strcmp(o->status, "failed") || !strcmp(o->status, "unverified") ? "failure" :
										 "error";
}

struct junit {
	struct buf cases;
	size_t tests, failures, errors;
	int64_t total_ms;
};

static void junit_case(struct junit *j, const struct batch_outcome *o)
{
	struct buf *out = &j->cases;
	const char *fault = junit_fault(o);

	j->tests++;
	j->total_ms += o->duration_ms;
	buf_addstr(out, "  <testcase name=\"");
	xml(out, o->id);
	buf_addf(out, "\" classname=\"assay.%s\" time=\"%.3f\"", o->level,
		 (double)o->duration_ms / 1000);
	if (!fault) {
		buf_addstr(out, "/>\n");
		return;
	}
	*(*fault == 'f' ? &j->failures : &j->errors) += 1;
	buf_addf(out, ">\n    <%s type=\"%s\" message=\"", fault, o->status);
	xml(out, o->error ? o->error : o->status);
	buf_addf(out, "\"/>\n  </testcase>\n");
}

int batch_results_junit(const struct batch_results *r, const char *path, const char *suite,
			struct error *err)
{
	cleanup_buf struct buf out = BUF_INIT((size_t)1 << 30);
	struct junit j = { .cases = BUF_INIT((size_t)1 << 30) };
	size_t i;

	for (i = 0; i < r->earlier.count; i++)
		if (!r->earlier.lines[i].dropped)
			junit_case(&j, &r->earlier.lines[i]);
	for (i = 0; i < r->count; i++)
		junit_case(&j, &r->outcomes[i]);
	buf_addstr(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"");
	xml(&out, suite);
	buf_addf(&out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" time=\"%.3f\">\n",
		 j.tests, j.failures, j.errors, (double)j.total_ms / 1000);
	buf_add(&out, j.cases.data, j.cases.len);
	buf_release(&j.cases);
	buf_addstr(&out, "</testsuite>\n");
	return io_replace_file(path, out.data, out.len, 0644, err);
}
