/*
 * SandboxFusion's /run_jupyter: cells of one notebook, one after the other in a context that lasts
 * as long as the request. Each is a program like any, and one that fails may leave nothing to the
 * next.
 */
#include "agent/doors/fusion/fusion.h"

#include "agent/doors/e2b/e2b.h"
#include "agent/doors/service/program.h"
#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS_MAX 99
#define TOTAL_MS  45000 /* as that server has it */
#define MARK	  '\x1e'

struct notebook {
	struct exchange *x;
	struct worker *w;
	struct context context;
	struct task given; /* its files, for each cell; owned */
	struct task lines; /* of a shell, a file of each cell so far; owned */
	struct sandbox_limits limits;
	int64_t until_ms;
	struct json *cells, *files; /* of the answer; owned */
	bool late;
};

/* --- files --- */

static char *path_in(size_t i)
{
	return mem_printf(".e2b/%zu", i + 1);
}

/* Of the cell to come; one that failed leaves its place to the next. */
static void set_lines(struct notebook *n, const char *commands)
{
	cleanup_free char *name = mem_printf(".e2b/c%zu", n->context.count - n->context.from);
	size_t last = n->lines.file_count;

	if (last && !strcmp(n->lines.files[last - 1].path, name))
		task_file_release(&n->lines.files[--n->lines.file_count]);
	e2b_add_commands(&n->lines, name, commands, false);
}

static void add_bytes(struct task *task, const char *name, const struct task_file *file)
{
	task_add_bytes(task, name, mem_strndup(file->bytes, file->len), file->len);
}

/* They are beside the first cell, as it finds by a list; each has the lines of those before. */
static void add_files(const struct notebook *n, struct task *task)
{
	struct json *manifest = json_object(), *files = json_object();

	for (size_t i = 0; i < n->lines.file_count; i++)
		add_bytes(task, n->lines.files[i].path, &n->lines.files[i]);
	for (size_t i = 0; i < n->given.file_count; i++) {
		const struct task_file *file = &n->given.files[i];
		struct json *pair = json_array();
		cleanup_free char *path = path_in(i);

		json_append(pair, json_new_int((int64_t)i + 1));
		json_append(pair, json_new_int(0644));
		json_set(files, file->path, pair);
		add_bytes(task, path, file);
	}
	json_set(manifest, "files", files);
	json_set(manifest, "folders", json_array());
	char *text = json_print(manifest);
	json_free(manifest);
	task_add_bytes(task, ".e2b/m1", text, strlen(text));
}

/* --- a cell's answer --- */

static const char *const types[][2] = {
	{ "text", "text/plain" },   { "html", "text/html" },	    { "markdown", "text/markdown" },
	{ "svg", "image/svg+xml" }, { "png", "image/png" },	    { "jpeg", "image/jpeg" },
	{ "latex", "text/latex" },  { "json", "application/json" },
};

static struct json *displays(const struct json *report)
{
	struct json *list = json_array();

	for (const struct json *r = json_first(json_get(report, "results")); r; r = json_next(r)) {
		struct json *one = json_object();

		for (size_t i = 0; i < ARRAY_SIZE(types); i++)
			if (json_get(r, types[i][0]))
				json_set(one, types[i][1], json_copy(json_get(r, types[i][0])));
		json_append(list, one);
	}
	return list;
}

/* In the cell's own words, where it has some, or in ours: none is missing. */
static struct json *errors(const struct loop_result *r, const struct json *report,
			   const struct json *document)
{
	struct json *list = json_array();
	const struct json *error = json_get(report, "error"),
			  *failure = json_get(document, "error");
	const char *name = json_get_string(error, "name"), *value = json_get_string(error, "value");
	const char *traceback = json_get_string(error, "traceback");
	const char *type = json_get_string(failure, "type");
	const char *detail = json_get_string(document, "detail");
	const char *message = json_get_string(failure, "message");
	cleanup_free char *code = mem_printf("exit code %d", r->execution.exit_code);
	const char *why = detail ? detail : message ? message : code;

	if (r->status == RUN_SUCCESS)
		return list;
	struct json *one = json_object();
	struct json *lines = json_array();
	json_set_string(one, "ename", name ? name : type ? type : "Error");
	json_set_string(one, "evalue", value ? value : why);
	json_append(lines, json_new_string(traceback ? traceback : why));
	json_set(one, "traceback", lines);
	json_append(list, one);
	return list;
}

static void add_cell(struct notebook *n, const struct loop_result *r, const struct json *document)
{
	const char *lost, *text = json_get_string(document, "stderr");
	cleanup_json struct json *report = e2b_report(n->w, r, &lost);
	const char *mark = text ? strchr(text, MARK) : NULL;
	struct json *cell = json_object();

	if (lost) {
		text = lost;
		mark = NULL;
	}
	json_set_string(cell, "stdout", json_get_string(document, "stdout"));
	size_t len = mark && r->status != RUN_SUCCESS ? (size_t)(mark - text) :
		     text			      ? strlen(text) :
							0;
	cleanup_free char *cut = e2b_cut(r);
	cleanup_free char *all = mem_printf("%.*s%s", (int)len, text ? text : "", cut ? cut : "");
	json_set_string(cell, "stderr", all);
	json_set(cell, "display", displays(report));
	json_set(cell, "error", errors(r, report, document));
	json_append(n->cells, cell);
	fusion_fetch(r, json_get(exchange_json(n->x), "fetch_files"), n->files);
	n->late = n->late || (r->executed && r->execution.outcome == SANDBOX_TIMEOUT_WALL);
}

static void add_refused(struct notebook *n, const char *why)
{
	struct json *cell = json_object(), *list = json_array(), *one = json_object();
	struct json *lines = json_array();

	json_append(lines, json_new_string(why));
	json_set_string(one, "ename", "Refused");
	json_set_string(one, "evalue", why);
	json_set(one, "traceback", lines);
	json_append(list, one);
	json_set_string(cell, "stdout", "");
	json_set_string(cell, "stderr", "");
	json_set(cell, "display", json_array());
	json_set(cell, "error", list);
	json_append(n->cells, cell);
}

/* --- running --- */

static int run(struct notebook *n, const char *code, bool own, struct error *err)
{
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	cleanup_program struct program program = { .code = NULL };
	int64_t left = n->until_ms - clock_mono_ms();

	if (left <= 0) {
		n->late = true;
		return 0;
	}
	if (program_set(&program, e2b_notebook()->name, code, strlen(code), "serve /run_jupyter",
			err) < 0)
		return -1;
	struct call call;
	const char *tags[3];
	exchange_call(n->x, &call, tags, left);
	call.limits = &n->limits;
	program.given.screened = !own;
	if (!own)
		add_files(n, &program.task);
	program.task.context = &n->context;
	int rc = call_run(n->w, &call, &program.task, &result, err);
	program.task.context = NULL;
	if (rc < 0)
		return -1;
	cleanup_json struct json *document = call_program_json(n->w, &result, NULL);
	if (!own)
		add_cell(n, &result, document);
	else if (!result.cell)
		return error_set(err, ERR_SANDBOX, "the notebook could not be begun");
	if (result.cell)
		context_add(&n->context, TAKE_PTR(result.cell), result.anew);
	return 0;
}

static int run_all(struct notebook *n, struct error *err)
{
	const struct json *cells = json_get(exchange_json(n->x), "cells");

	cleanup_free char *begin = e2b_begin_text(n->w);

	if (run(n, begin, true, err) < 0)
		return -1;
	for (const struct json *c = json_first(cells); c && !n->late; c = json_next(c)) {
		cleanup_free char *commands = NULL, *code = e2b_cell(json_string(c), &commands);

		if (e2b_screen_commands(n->w, exchange_cancel_fd(n->x), commands,
					n->w->policy.allow, err) == 0) {
			set_lines(n, commands);
			if (run(n, code, false, err) < 0)
				return -1;
		} else if (err->kind == ERR_DENIED) {
			add_refused(n, err->message);
			*err = (struct error)ERROR_INIT;
		} else {
			return -1;
		}
	}
	return 0;
}

int fusion_read_notebook(const struct json *body, struct sandbox_limits *limits,
			 int64_t *ret_all_ms, struct task *given, struct error *err)
{
	double each = json_get_number(body, "cell_timeout", 0);
	double all = json_get_number(body, "total_timeout", 0);
	const char *kernel = json_get_string(body, "kernel");
	const struct json *cells = json_get(body, "cells"), *c = json_first(cells);

	while (c && json_string(c))
		c = json_next(c);
	if (json_type(cells) != JSON_ARRAY || c || json_count(cells) > CELLS_MAX)
		return error_set(err, ERR_USAGE, "cells is a list of texts, at most %d", CELLS_MAX);
	if (kernel && strcmp(kernel, "python3"))
		return error_set(err, ERR_USAGE, "kernel \"%.40s\": there is python3", kernel);
	if (each > 0 && each * 1000 < (double)limits->wall_ms)
		limits->wall_ms = each * 1000 < 1 ? 1 : (int64_t)(each * 1000);
	*ret_all_ms = all > 0 && all < 86400 ? (int64_t)(all * 1000) : TOTAL_MS;
	return fusion_add_files(given, json_get(body, "files"), err);
}

static struct json *driver(const struct notebook *n, int64_t took_ms)
{
	struct json *o = json_object();

	json_set_string(o, "status", n->late ? "TimeLimitExceeded" : "Finished");
	json_set_number(o, "execution_time", (double)took_ms / 1000);
	json_set_int(o, "return_code", 0);
	json_set_string(o, "stdout", "");
	json_set_string(o, "stderr", "");
	return o;
}

void fusion_run_jupyter(struct exchange *x, struct worker *w)
{
	struct notebook n = { .x = x,
			      .w = w,
			      .limits = w->policy.limits,
			      .cells = json_array(),
			      .files = json_object() };
	int64_t begun = clock_mono_ms();

	n.context.name = mem_strdup("notebook");
	struct error err = ERROR_INIT;
	int64_t all_ms;
	if (fusion_read_notebook(exchange_json(x), &n.limits, &all_ms, &n.given, &err) < 0) {
		fusion_refuse_body(x, err.message);
	} else {
		n.until_ms = begun + all_ms;
		int rc = run_all(&n, &err);

		struct json *o = json_object();
		json_set_string(o, "status",
				rc < 0 ? "SandboxError" :
				n.late ? "Failed" :
					 "Success");
		json_set_string(o, "message", rc < 0 ? err.message : "");
		json_set(o, "driver", driver(&n, clock_mono_ms() - begun));
		json_set(o, "cells", n.late ? json_array() : json_copy(n.cells));
		json_set_null(o, "executor_pod_name");
		json_set(o, "files", json_copy(n.files));
		exchange_answer(x, 200, o);
	}
	json_free(n.cells);
	json_free(n.files);
	task_release(&n.given);
	task_release(&n.lines);
	if (n.context.count)
		sandbox_forget_state(w->sandbox, n.context.cells[n.context.count - 1].id);
	context_release(&n.context);
}
