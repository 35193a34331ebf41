/*
 * Cells made one program (save.h). What is claimed of it was tried; a program that could not be
 * tried is claimed nothing of.
 */
#include "agent/cli/save.h"

#include "agent/call_cells.h"
#include "agent/cli/source.h"
#include "agent/cli/terminal/term.h"
#include "base/io.h"
#include "base/mem.h"
#include "verifier/cells.h"
#include "verifier/lang/lang.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX ((size_t)64 << 20)

void saved_release(struct saved *s)
{
	free(s->why_all);
	free(s->reason);
	*s = (struct saved){ .reason = NULL };
}

/* --- trying it --- */

/* What the context showed is the end of what the program prints: earlier cells may print
 * before it. */
static bool ends_with(const struct sandbox_stream *out, const char *end, size_t len)
{
	if (out->truncated || out->len < len)
		return false;
	size_t before = out->len - len;
	return !memcmp(out->bytes + before, end, len) &&
	       (before == 0 || out->bytes[before - 1] == '\n');
}

/* Of what the cells called, the answers; nothing is called for a trial. */
struct answers {
	const struct context *context;
	const struct slice *slice;
};

static struct json *served(void *self, int attempt)
{
	const struct answers *a = self;
	const struct context *c = a->context;
	const char *lang = c->cells[c->count - 1].lang;
	struct json *calls = json_array();
	size_t n = 0;

	(void)attempt;
	for (size_t i = c->from; i < c->count; i++)
		if (!strcmp(c->cells[i].lang, lang) && a->slice->used[n++])
			call_cells_read(c->cells[i].calls, calls);
	return calls;
}

static const struct json *no_list(void *self, struct error *err)
{
	(void)self;
	error_set(err, ERR_USAGE, "no model is asked");
	return NULL;
}

static int no_action(void *self, const char *name, struct error *err)
{
	(void)self;
	return error_set(err, ERR_USAGE, "%s: nothing is called for a trial", name);
}

static int try_it(const struct save *s, const struct slice *slice, struct saved *ret,
		  struct error *err)
{
	const struct context_cell *last = &s->context->cells[s->context->count - 1];
	const struct task_program program = { .code = slice->program, .len = slice->len };
	struct policy policy = *s->loop->policy;
	struct loop loop = *s->loop;
	struct task task = {
		.prompt = mem_printf("save %s", s->path),
		.lang = last->lang,
		.program = &program,
		.files = s->task->files,
		.file_count = s->task->file_count,
		.stdin_bytes = last->stdin_bytes,
		.stdin_len = last->stdin_len,
	};
	cleanup_loop_result struct loop_result result = { .answer = NULL };
	struct answers answers = { s->context, slice };
	const struct tool_ops tools = { no_list,  no_action, NULL,     served,
					&answers, INT64_MAX, INT64_MAX };

	policy.limits.wall_ms += context_allowance_ms(s->context, last->lang);
	policy.limits.cpu_ms += context_allowance_ms(s->context, last->lang);
	loop.policy = &policy;
	loop.progress = (struct progress){ .stage = NULL };
	loop.session = NULL; /* no turn of the conversation */
	loop.tools = s->could_call || call_cells_any(s->context) ? &tools : NULL;
	live_clock(&loop.clock, s->live);
	const struct progress *watched = TAKE_PTR(s->live->progress); /* it shows a turn's stage */
	term_busy("running what is saved from nothing ...");
	int rc = loop_run(&loop, &task, &result, err);
	term_status(NULL);
	s->live->progress = watched;
	free(task.prompt);
	if (rc < 0)
		return -1;
	memcpy(ret->run, result.run, sizeof(ret->run));
	free(ret->reason);
	ret->reason = mem_strdup(result.reason);
	ret->same = result.status == RUN_SUCCESS && result.executed &&
		    ends_with(&result.execution.out, s->output, s->output_len);
	return 0;
}

/* --- writing it --- */

static void add_notebook_cell(struct json *cells, const char *kind, const char *text, size_t len)
{
	struct json *cell = json_object();

	json_set_string(cell, "cell_type", kind);
	json_set(cell, "metadata", json_object());
	json_set_bytes(cell, "source", text, len);
	if (!strcmp(kind, "code")) {
		json_set_null(cell, "execution_count");
		json_set(cell, "outputs", json_array());
	}
	json_append(cells, cell);
}

static void add_code_cell(const struct save *s, struct json *cells, const struct cell *list,
			  size_t count, size_t i)
{
	const struct language *language =
		language_find(s->context->cells[s->context->count - 1].lang);
	cleanup_free char *after = cells_after(language, list, count, i);
	cleanup_free char *code =
		mem_printf("%.*s%s%s", (int)list[i].len, list[i].code, *after ? "\n" : "", after);

	add_notebook_cell(cells, "code", code, strlen(code));
}

static char *as_notebook(const struct save *s, const struct slice *slice, const struct cell *list)
{
	const char *lang = s->context->cells[s->context->count - 1].lang;
	cleanup_json struct json *notebook = json_object();
	struct json *cells = json_array(), *about = json_object(), *kernel = json_object();

	if (s->question)
		add_notebook_cell(cells, "markdown", s->question, strlen(s->question));
	for (size_t i = 0; i < slice->count; i++)
		if (slice->used[i])
			add_code_cell(s, cells, list, slice->count, i);
	if (s->answer)
		add_notebook_cell(cells, "markdown", s->answer, strlen(s->answer));
	json_set_string(kernel, "language", lang);
	json_set_string(kernel, "name", lang);
	json_set_string(kernel, "display_name", lang);
	json_set(about, "kernelspec", kernel);
	json_set(notebook, "cells", cells);
	json_set(notebook, "metadata", about);
	json_set_int(notebook, "nbformat", 4);
	json_set_int(notebook, "nbformat_minor", 4);
	return json_print(notebook);
}

static char *as_page(const struct save *s, const struct slice *slice)
{
	const char *lang = s->context->cells[s->context->count - 1].lang;
	struct buf out = BUF_INIT(FILE_MAX);

	if (s->question)
		buf_addf(&out, "%s\n\n", s->question);
	buf_addf(&out, "~~~~%s\n", lang);
	buf_add(&out, slice->program, slice->len);
	if (slice->len && slice->program[slice->len - 1] != '\n')
		buf_addch(&out, '\n');
	buf_addstr(&out, "~~~~\n");
	if (s->answer)
		buf_addf(&out, "\n%s\n", s->answer);
	return buf_take(&out, NULL);
}

static bool has_ending(const char *path, const char *ending)
{
	size_t len = strlen(path), end = strlen(ending);

	return len > end && !strcmp(path + len - end, ending);
}

static int write_it(const struct save *s, const struct slice *slice, const struct cell *list,
		    struct error *err)
{
	cleanup_free char *text = has_ending(s->path, ".ipynb") ? as_notebook(s, slice, list) :
				  has_ending(s->path, ".md")	? as_page(s, slice) :
								  NULL;

	return text ? io_replace_file(s->path, text, strlen(text), 0644, err) :
		      io_replace_file(s->path, slice->program, slice->len, 0644, err);
}

int save_context(const struct save *s, struct saved *ret, struct error *err)
{
	const struct context_cell *last = &s->context->cells[s->context->count - 1];
	const struct language *language = language_find(last->lang);
	cleanup_slice struct slice slice = { .count = 0 };
	size_t count;
	cleanup_free struct cell *list = context_cells(s->context, last->lang, &count);

	*ret = (struct saved){ .count = count };
	for (int all = 0; all < 2; all++) {
		slice_release(&slice);
		cells_slice(s->live->sandbox, s->live->cancel_fd, language, list, count, all,
			    &slice);
		if (try_it(s, &slice, ret, err) < 0)
			return -1;
		ret->used = 0;
		for (size_t i = 0; i < count; i++)
			ret->used += slice.used[i];
		if (ret->same || ret->used == count)
			break;
	}
	ret->why_all = TAKE_PTR(slice.why_all);
	return write_it(s, &slice, list, err);
}

void save_tell_ending(const char *path, const char *lang)
{
	const struct language *named = source_by_ending(path),
			      *is = lang ? language_find(lang) : NULL;

	if (named && is && named != is)
		term_line(TERM_YELLOW, 0, "it is a program in %s, whose files end in %s",
			  lang_find(is->name)->title, is->extension);
}

void save_tell(const struct save *s, const struct saved *saved)
{
	if (saved->count > 1)
		term_line(TERM_DIM, 0, "the program is in %s: %zu of %zu cells", s->path,
			  saved->used, saved->count);
	else
		term_line(TERM_DIM, 0, "the program is in %s", s->path);
	save_tell_ending(s->path, s->context->cells[s->context->count - 1].lang);
	if (saved->same)
		term_line(TERM_GREEN, 0, "run from nothing it gives the same (run %s)", saved->run);
	else
		term_line(TERM_RED, 0, "run from nothing it does not give the same: %s (run %s)",
			  saved->reason ? saved->reason : "its output is another", saved->run);
}
