/*
 * Cells made one program (save.h). What is claimed of it was tried; a program that could not be
 * tried is claimed nothing of.
 */
#include "agent/cli/save.h"

#include "agent/call_cells.h"
#include "agent/cli/save_notebook.h"
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
	free(s->others);
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

static const struct sandbox_artifact *find_file(const struct sandbox_result *x, const char *path)
{
	for (size_t i = 0; i < x->artifact_count; i++)
		if (!strcmp(x->artifacts[i].path, path))
			return &x->artifacts[i];
	return NULL;
}

static bool has_bytes(const struct sandbox_artifact *a, const struct task_file *f)
{
	return a->kept && a->size == f->len && !memcmp(a->bytes, f->bytes, f->len);
}

/* The nth figure of one program may be another's first. */
static bool has_anywhere(const struct sandbox_result *x, const struct task_file *f)
{
	for (size_t i = 0; i < x->artifact_count; i++)
		if (has_bytes(&x->artifacts[i], f))
			return true;
	return false;
}

/* What became of the files that the last cell left. */
static void compare_files(const struct context_cell *last, const struct sandbox_result *x,
			  struct saved *ret)
{
	struct buf others = BUF_INIT(FILE_MAX);

	ret->files = 0;
	for (size_t i = 0; i < last->file_count; i++) {
		const struct task_file *f = &last->files[i];
		const struct sandbox_artifact *a = find_file(x, f->path);

		if (f->bytes ? (a && has_bytes(a, f)) || has_anywhere(x, f) :
			       a && !a->kept && a->size == f->len) {
			ret->files++;
			continue;
		}
		buf_addstr(&others, others.len ? ", " : "");
		buf_addf(&others, a ? "%s is another" : "%s is missing", f->path);
	}
	free(ret->others);
	ret->others = others.len ? buf_take(&others, NULL) : NULL;
	buf_release(&others);
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
	context_raise_limits(s->context, last->lang, &policy.limits);
	loop.policy = &policy;
	loop.progress = (struct progress){ .stage = NULL };
	loop.session = NULL; /* no turn of the conversation */
	loop.tools = s->could_call || call_cells_any(s->context) ? &tools : NULL;
	live_clock(&loop.clock, s->live);
	const struct progress *watched = TAKE_PTR(s->live->progress); /* it shows a turn's stage */
	term_busy(s->term, "running what is saved from nothing ...");
	int rc = loop_run(&loop, &task, &result, err);
	term_status(s->term, NULL);
	s->live->progress = watched;
	free(task.prompt);
	if (rc < 0)
		return -1;
	memcpy(ret->run, result.run, sizeof(ret->run));
	free(ret->reason);
	ret->reason = mem_strdup(result.reason);
	bool ran = result.status == RUN_SUCCESS && result.executed;
	ret->printed = ran && ends_with(&result.execution.out, s->output, s->output_len);
	if (ran)
		compare_files(last, &result.execution, ret);
	ret->same = ret->printed && !ret->others;
	return 0;
}

/* --- writing it --- */

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
	const struct notebook book = { s->loop->audit, s->context, s->question,
				       s->answer,      s->output,  s->output_len };
	cleanup_free char *text = has_ending(s->path, ".ipynb") ?
					  save_notebook(&book, slice, list) :
				  has_ending(s->path, ".md") ? as_page(s, slice) :
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

void save_tell_ending(struct terminal *term, const char *path, const char *lang)
{
	const struct language *named = source_by_ending(path),
			      *is = lang ? language_find(lang) : NULL;

	if (named && is && named != is)
		term_line(term, TERM_YELLOW, 0, "it is a program in %s, whose files end in %s",
			  lang_find(is->name)->title, is->extension);
}

static void tell_trial(struct terminal *term, const struct saved *saved)
{
	const char *why = saved->reason	  ? saved->reason :
			  !saved->printed ? "its output is another" :
					    saved->others;

	if (!saved->same)
		term_line(term, TERM_RED, 0,
			  "run from nothing it does not give the same: %s (run %s)", why,
			  saved->run);
	else if (saved->files)
		term_line(term, TERM_GREEN, 0,
			  "run from nothing it gives the same, %zu file%s too (run %s)",
			  saved->files, saved->files == 1 ? "" : "s", saved->run);
	else
		term_line(term, TERM_GREEN, 0, "run from nothing it gives the same (run %s)",
			  saved->run);
}

void save_tell(const struct save *s, const struct saved *saved)
{
	if (saved->count > 1)
		term_line(s->term, TERM_DIM, 0, "the program is in %s: %zu of %zu cells", s->path,
			  saved->used, saved->count);
	else
		term_line(s->term, TERM_DIM, 0, "the program is in %s", s->path);
	save_tell_ending(s->term, s->path, s->context->cells[s->context->count - 1].lang);
	tell_trial(s->term, saved);
}
