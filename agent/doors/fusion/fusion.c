/*
 * SandboxFusion's wire (github.com/bytedance/SandboxFusion), as far as it runs one program:
 * /run_code. What a run came to is the engine's outcome; files that are asked for are those that
 * the program left. No outcome is made up for it.
 */
#include "agent/doors/fusion/fusion.h"

#include "agent/doors/service/program.h"
#include "base/base64.h"
#include "base/mem.h"

#include <signal.h>
#include <string.h>

#define FETCH_MAX ((size_t)16 << 20) /* of all files that are asked for, as base64 */

/* --- the request --- */

/* Contents are base64; null is a file that is not given. */
int fusion_add_files(struct task *task, const struct json *files, struct error *err)
{
	if (json_type(files) != JSON_NULL && json_type(files) != JSON_OBJECT)
		return error_set(err, ERR_USAGE, "files is an object of paths and base64");
	for (const struct json *f = json_first(files); f; f = json_next(f)) {
		const char *name = json_key(f);

		while (!strncmp(name, "./", 2))
			name += 2;
		if (json_type(f) != JSON_NULL && program_add_file(task, name, f, "base64", err) < 0)
			return -1;
	}
	return 0;
}

int fusion_read(struct program *p, const struct json *body, struct sandbox_limits *limits,
		struct error *err)
{
	const char *code = json_get_string(body, "code"), *in = json_get_string(body, "stdin");
	double seconds = json_get_number(body, "run_timeout", 0);
	double mebibytes = json_get_number(body, "memory_limit_MB", -1);

	if (!code)
		return error_set(err, ERR_USAGE, "code is missing");
	if (mebibytes > 0 && mebibytes < 1) /* 0 would be none at all */
		return error_set(err, ERR_USAGE, "memory_limit_MB is 1 or more");
	if (program_set(p, json_get_string(body, "language"), code, strlen(code), "serve /run_code",
			err) < 0 ||
	    fusion_add_files(&p->task, json_get(body, "files"), err) < 0)
		return -1;
	if (seconds > 0 && seconds * 1000 < (double)limits->wall_ms)
		limits->wall_ms = seconds * 1000 < 1 ? 1 : (int64_t)(seconds * 1000);
	if (mebibytes > 0 && mebibytes * (1 << 20) < (double)limits->memory_bytes)
		limits->memory_bytes = (int64_t)(mebibytes * (1 << 20));
	if (in) {
		p->task.stdin_bytes = mem_strdup(in);
		p->task.stdin_len = strlen(in);
	}
	return 0;
}

/* --- the answer --- */

void fusion_refuse(struct exchange *x, unsigned status, const char *message)
{
	struct json *body = json_object();

	json_set_string(body, "detail", message);
	exchange_answer(x, status, body);
}

/* Each message of who reads a body begins with the member that it is about. */
void fusion_refuse_body(struct exchange *x, const char *message)
{
	size_t len = strspn(message, "abcdefghijklmnopqrstuvwxyzMB_");
	struct json *body = json_object(), *list = json_array(), *one = json_object();
	struct json *where = json_array();
	cleanup_free char *member = mem_strndup(message, len);
	bool missing = exchange_json(x) && !json_get(exchange_json(x), member);

	json_set_string(one, "type", missing ? "missing" : "value_error");
	json_append(where, json_new_string("body"));
	json_append(where, json_new_string(member));
	json_set(one, "loc", where);
	json_set_string(one, "msg", message);
	json_append(list, one);
	json_set(body, "detail", list);
	exchange_answer(x, 422, body);
}

void fusion_ping(struct exchange *x)
{
	exchange_answer(x, 200, json_new_string("pong"));
}

void fusion_not_here(struct exchange *x)
{
	fusion_refuse(x, 501,
		      "not here: there are no datasets, prompts or metrics; programs run by "
		      "/run_code and /run_jupyter");
}

static bool is_timeout(const struct sandbox_result *r)
{
	return r->outcome == SANDBOX_TIMEOUT_WALL || r->outcome == SANDBOX_TIMEOUT_CPU;
}

/* What the sandbox did not do; it is no program's fault. */
static bool is_error(const struct sandbox_result *r)
{
	return r->outcome == SANDBOX_SETUP_FAILED || r->outcome == SANDBOX_CANCELLED;
}

/* As that server has it, a program that a signal ended has finished, with a code below zero; one
 * that a limit ended had its signal from us. */
static const char *run_status(const struct sandbox_result *r)
{
	return is_timeout(r) ? "TimeLimitExceeded" : is_error(r) ? "Error" : "Finished";
}

/* One that was stopped has none. */
static struct json *return_code(const struct sandbox_result *r)
{
	if (is_timeout(r) || is_error(r))
		return json_new_null();
	if (r->outcome == SANDBOX_EXIT)
		return json_new_int(r->exit_code);
	return json_new_int(-(r->signal ? r->signal : SIGKILL));
}

static struct json *run_json(const struct loop_result *r, const struct json *document)
{
	const struct sandbox_result *x = &r->execution;
	struct json *run = json_object();

	json_set_string(run, "status", run_status(x));
	json_set_number(run, "execution_time", x->metrics.wall_ms / 1000);
	json_set(run, "return_code", return_code(x));
	json_set(run, "stdout", json_copy(json_get(document, "stdout")));
	json_set(run, "stderr", json_copy(json_get(document, "stderr")));
	return run;
}

static const struct sandbox_artifact *find_artifact(const struct loop_result *r, const char *path)
{
	const char *name = path;

	while (!strncmp(name, "./", 2))
		name += 2;
	for (size_t i = 0; r->executed && i < r->execution.artifact_count; i++) {
		const struct sandbox_artifact *a = &r->execution.artifacts[i];

		if (a->kept && a->bytes && !strcmp(a->path, name))
			return a;
	}
	return NULL;
}

/* A file that has many spellings counts for each: what does not fit is left out. */
void fusion_fetch(const struct loop_result *r, const struct json *wanted, struct json *files)
{
	struct buf text = BUF_INIT(FETCH_MAX);
	size_t left = FETCH_MAX;

	for (const struct json *f = json_first(files); f; f = json_next(f))
		left -= strlen(json_string(f)) + strlen(json_key(f));
	for (const struct json *f = json_first(wanted); f; f = json_next(f)) {
		const char *path = json_string(f);
		const struct sandbox_artifact *a = path ? find_artifact(r, path) : NULL;
		const char *had = path ? json_get_string(files, path) : NULL;

		buf_clear(&text);
		if (!a || base64_encode(&text, a->bytes, (size_t)a->size) < 0)
			continue;
		left += had ? strlen(had) + strlen(path) : 0;
		if (had)
			json_remove(files, path);
		size_t size = text.len + strlen(path);
		if (size > left)
			continue;
		left -= size;
		json_set_string(files, path, text.data);
	}
	buf_release(&text);
}

static struct json *answer(const struct worker *w, const struct loop_result *r,
			   const struct json *body, const struct error *failed)
{
	cleanup_json struct json *document = call_program_json(w, r, failed);
	struct json *object = json_object(), *files = json_object();
	bool well = r->executed && r->status == RUN_SUCCESS;
	bool theirs = r->executed ? !is_error(&r->execution) :
				    r->status == RUN_DENIED || r->status == RUN_FAILED;

	json_set_string(object, "status", well ? "Success" : theirs ? "Failed" : "SandboxError");
	const char *detail = json_get_string(document, "detail");
	cleanup_free char *cut = call_cut(r);
	json_set_string(object, "message", detail ? detail : cut ? cut : "");
	json_set_null(object, "compile_result");
	json_set(object, "run_result", r->executed ? run_json(r, document) : json_new_null());
	json_set_null(object, "executor_pod_name");
	fusion_fetch(r, json_get(body, "fetch_files"), files);
	json_set(object, "files", files);
	json_set(object, "run", json_copy(json_get(document, "run")));
	return object;
}

void fusion_run_code(struct exchange *x, struct worker *w)
{
	cleanup_loop_result struct loop_result result = { .execution.exit_code = -1,
							  .status = RUN_SANDBOX_ERROR };
	cleanup_program struct program program = { .code = NULL };
	struct sandbox_limits limits = w->policy.limits;
	const struct json *body = exchange_json(x);
	struct error err = ERROR_INIT;

	if (fusion_read(&program, body, &limits, &err) < 0) {
		fusion_refuse_body(x, err.message);
		return;
	}
	struct call call;
	const char *tags[3];
	exchange_call(x, &call, tags, 0);
	call.limits = &limits;
	if (http_run_program(w, &call, &program, &result, &err) == 0)
		err = (struct error)ERROR_INIT; /* that is in the result */
	exchange_answer(x, 200, answer(w, &result, body, err.kind != ERR_NONE ? &err : NULL));
}
