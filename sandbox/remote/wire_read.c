/*
 * What came over the wire, read. Neither side is believed: a job is checked like any client's, and
 * a result may hold no more than the job allowed, no name that leads out of a folder, and no
 * outcome that there is not.
 */
#include "sandbox/remote/wire.h"

#include "base/base64.h"
#include "base/mem.h"
#include "sandbox/artifact.h"
#include "sandbox/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX     ((size_t)256 << 20)
#define FACTS_MAX     64
#define FORBIDDEN_MAX 64

char *wire_bytes(const struct json *object, const char *key, size_t *ret_len)
{
	const char *text = json_get_string(object, key);
	struct buf bytes = BUF_INIT(BYTES_MAX);

	*ret_len = 0;
	if (!text)
		return NULL;
	if (base64_decode(&bytes, text, strlen(text)) == 0)
		return buf_take(&bytes, ret_len);
	buf_release(&bytes);
	return NULL;
}

/* --- a job --- */

void wire_job_release(struct wire_job *w)
{
	for (size_t i = 0; i < w->owned_count; i++)
		free(w->owned[i]);
	free(w->owned);
	*w = (struct wire_job){ .owned = NULL };
}

static void *own(struct wire_job *w, void *memory)
{
	w->owned = mem_one_more(w->owned, w->owned_count, sizeof(*w->owned));
	w->owned[w->owned_count++] = memory;
	return memory;
}

/* Without a NUL in it: it becomes a name. */
static char *text_of(struct wire_job *w, const char *base64)
{
	struct buf bytes = BUF_INIT(BYTES_MAX);

	if (!base64 || base64_decode(&bytes, base64, strlen(base64)) < 0) {
		buf_release(&bytes);
		return NULL;
	}
	size_t len;
	char *text = own(w, buf_take(&bytes, &len));
	return strlen(text) == len ? text : NULL;
}

static int read_words(struct wire_job *w, const struct json *job, const char *key,
		      const char *const **ret, struct error *err)
{
	const struct json *list = json_get(job, key);

	*ret = NULL;
	if (json_type(list) == JSON_NULL)
		return 0;
	const char **array = own(w, mem_array(NULL, json_count(list) + 1, sizeof(*array)));
	size_t n = 0;
	for (const struct json *one = json_first(list); one; one = json_next(one)) {
		array[n] = text_of(w, json_string(one));
		if (!array[n++])
			return error_set(err, ERR_USAGE, "%s: base64 without a NUL expected", key);
	}
	array[n] = NULL;
	*ret = array;
	return 0;
}

static int read_files(struct wire_job *w, const struct json *job, const char *key,
		      const struct sandbox_file **ret, size_t *ret_count, struct error *err)
{
	const struct json *list = json_get(job, key);
	struct sandbox_file *files = own(w, mem_alloc((json_count(list) + 1) * sizeof(*files)));
	size_t n = 0;

	for (const struct json *one = json_first(list); one; one = json_next(one), n++) {
		files[n].path = text_of(w, json_get_string(one, "path"));
		files[n].bytes = wire_bytes(one, "base64", &files[n].len);
		if (!files[n].path || !files[n].bytes) {
			free((void *)(uintptr_t)files[n].bytes);
			return error_set(err, ERR_USAGE, "%s: path and base64 expected", key);
		}
		own(w, (void *)(uintptr_t)files[n].bytes);
	}
	*ret = files;
	*ret_count = n;
	return 0;
}

static int read_limits(struct sandbox_limits *ret, const struct json *limits, struct error *err)
{
	for (const struct wire_limit *l = wire_limits; l->name; l++) {
		int64_t value = json_get_int(limits, l->name, -1);

		if (value < 0)
			return error_set(err, ERR_USAGE, "limits: %s is missing", l->name);
		memcpy((char *)ret + l->offset, &value, sizeof(value));
	}
	return 0;
}

static bool has_own_flags(const struct sandbox_job *job)
{
	const char *const *a = job->flags, *const *b = job->language->flags;

	while (a && *a && *b && !strcmp(*a, *b)) {
		a++;
		b++;
	}
	return a && !*a && !*b;
}

static int read_job(struct wire_job *w, const struct json *json, struct error *err)
{
	const char *language = json_get_string(json, "language");
	struct sandbox_job *job = &w->job;

	job->language = language ? language_find(language) : NULL;
	if (!job->language)
		return error_set(err, ERR_USAGE, "there is no language \"%.60s\" here",
				 language ? language : "");
	job->code = own(w, wire_bytes(json, "code", &job->code_len));
	if (!job->code)
		return error_set(err, ERR_USAGE, "code is missing: base64 expected");
	if (json_get(json, "stdin")) {
		job->stdin_bytes = own(w, wire_bytes(json, "stdin", &job->stdin_len));
		if (!job->stdin_bytes)
			return error_set(err, ERR_USAGE, "stdin: base64 expected");
	}
	job->entry = own(w, mem_strdup(json_get_string(json, "entry")));
	if (read_words(w, json, "argv", &job->argv, err) < 0 ||
	    read_words(w, json, "flags", &job->flags, err) < 0 ||
	    read_words(w, json, "env", &job->env, err) < 0 ||
	    read_files(w, json, "inputs", &job->inputs, &job->input_count, err) < 0 ||
	    read_files(w, json, "extras", &job->extras, &job->extra_count, err) < 0)
		return -1;
	if (has_own_flags(job))
		job->flags = NULL; /* as it was given: only then may it be what waits here */
	return read_limits(&job->limits, json_get(json, "limits"), err);
}

int wire_read_job(struct wire_job *ret, const struct json *json, struct error *err)
{
	*ret = (struct wire_job){ .owned = NULL };
	if (read_job(ret, json, err) == 0)
		return 0;
	wire_job_release(ret);
	return -1;
}

/* --- an answer --- */

int wire_check_answer(const struct json *answer, struct error *err)
{
	const struct json *error = json_get(answer, "error");
	const char *message = json_get_string(error, "message");

	if (json_get_int(answer, "assay_job", 0) != WIRE_VERSION)
		return error_set(err, ERR_SANDBOX,
				 "what answers is no sandbox of this version of assay%s%.200s",
				 message ? ": " : "", message ? message : "");
	if (!error)
		return 0;
	message = message ? message : "it does not say why";
	error_set(err,
		  json_get_string(error, "kind") &&
				  !strcmp(json_get_string(error, "kind"), "usage") ?
			  ERR_USAGE :
			  ERR_SANDBOX,
		  "%.400s", message);
	err->begun = json_get_bool(error, "begun", false);
	return -1;
}

static int broken(struct error *err, const char *what)
{
	return error_set(err, ERR_SANDBOX, "the other side's result is none: %s", what);
}

static int read_stream(struct sandbox_stream *ret, const struct json *json, int64_t limit,
		       struct error *err)
{
	int64_t total = json_get_int(json, "total", -1);

	ret->bytes = wire_bytes(json, "base64", &ret->len);
	if (!ret->bytes || total < (int64_t)ret->len || (int64_t)ret->len > limit)
		return broken(err, "an output that has no bytes, or more than were allowed");
	ret->total = (uint64_t)total;
	ret->truncated = ret->total > ret->len;
	return 0;
}

static int read_artifact(struct sandbox_result *r, const struct json *json, int64_t *left,
			 struct error *err)
{
	const char *why = json_get_string(json, "why_not");
	int64_t size = json_get_int(json, "size", -1);
	size_t path_len, len;
	cleanup_free char *path = wire_bytes(json, "path", &path_len);
	cleanup_free char *bytes = wire_bytes(json, "base64", &len);

	/* What was not looked at has no name. */
	if (!path || size < 0 ||
	    !((strlen(path) == path_len && sandbox_path_is_safe(path)) ||
	      (!bytes && path_len == 0)))
		return broken(err, "a file without a name below its folder");
	if (!bytes) {
		artifact_refuse(r, path, (uint64_t)size, mem_strdup(why ? why : "not sent"));
		return 0;
	}
	if ((int64_t)len != size || size > *left)
		return broken(err, "a file that has another size, or more than was allowed");
	*left -= size;
	artifact_keep(r, path, TAKE_PTR(bytes), len);
	return 0;
}

static int read_artifacts(struct sandbox_result *r, const struct json *list,
			  const struct sandbox_limits *limits, struct error *err)
{
	int64_t left = limits->artifact_bytes, kept = 0;

	for (const struct json *a = json_first(list); a; a = json_next(a)) {
		kept += json_get_string(a, "base64") != NULL;
		if (kept > limits->artifacts || r->artifact_count > ARTIFACT_ENTRIES_MAX)
			return broken(err, "more files than were allowed");
		if (read_artifact(r, a, &left, err) < 0)
			return -1;
	}
	return 0;
}

static void read_forbidden(struct sandbox_result *r, const struct json *list)
{
	for (const struct json *one = json_first(list); one && r->forbidden_count < FORBIDDEN_MAX;
	     one = json_next(one)) {
		struct sandbox_forbidden f = { .count = (uint64_t)json_get_int(one, "count", 1) };
		const char *name = json_get_string(one, "syscall");
		const char *arch = json_get_string(one, "arch");
		const struct json *arg = json_first(json_get(one, "args"));

		snprintf(f.syscall, sizeof(f.syscall), "%s", name ? name : "?");
		snprintf(f.arch, sizeof(f.arch), "%s", arch ? arch : "?");
		for (size_t n = 0; arg && n < ARRAY_SIZE(f.args); n++, arg = json_next(arg))
			f.args[n] = json_string(arg) ? strtoull(json_string(arg), NULL, 16) : 0;
		r->forbidden = mem_one_more(r->forbidden, r->forbidden_count, sizeof(f));
		r->forbidden[r->forbidden_count++] = f;
	}
}

static void read_facts(struct sandbox_result *r, const struct json *list)
{
	for (const struct json *f = json_first(list); f && r->isolation.count < FACTS_MAX;
	     f = json_next(f)) {
		const char *name = json_get_string(f, "name"), *value = json_get_string(f, "value");

		if (name && *name && value)
			sandbox_fact_add(&r->isolation, name, value, json_get_string(f, "layer"));
	}
}

static int read_result(struct sandbox_result *r, const struct json *json,
		       const struct sandbox_job *job, struct error *err)
{
	const char *name = json_get_string(json, "outcome"),
		   *detail = json_get_string(json, "detail");
	int64_t code = json_get_int(json, "exit_code", -1),
		signal = json_get_int(json, "signal", 0);
	int outcome = name ? sandbox_outcome_parse(name) : -1;

	if (outcome < 0 || outcome == SANDBOX_SETUP_FAILED)
		return broken(err, "no outcome that there is");
	r->outcome = (enum sandbox_outcome)outcome;
	if (code < -1 || code > 255 || signal < 0 || signal > 127 ||
	    (outcome == SANDBOX_EXIT && code < 0))
		return broken(err, "no way in which a program ends");
	r->exit_code = (int)code;
	r->signal = (int)signal;
	sandbox_metrics_read(json_get(json, "metrics"), &r->metrics);
	snprintf(r->detail, sizeof(r->detail), "%s", detail ? detail : "");
	read_forbidden(r, json_get(json, "forbidden"));
	read_facts(r, json_get(json, "facts"));
	if (read_stream(&r->out, json_get(json, "stdout"), job->limits.stdout_bytes, err) < 0 ||
	    read_stream(&r->err, json_get(json, "stderr"), job->limits.stderr_bytes, err) < 0)
		return -1;
	return read_artifacts(r, json_get(json, "artifacts"), &job->limits, err);
}

int wire_read_result(struct sandbox_result *ret, const struct json *json,
		     const struct sandbox_job *job, struct error *err)
{
	*ret = (struct sandbox_result){ .exit_code = -1 };
	if (read_result(ret, json, job, err) == 0)
		return 0;
	sandbox_result_release(ret);
	return -1;
}
