/*
 * What a conversation keeps of its turns: the words, and the files they left. Kept within a
 * ceiling, the oldest dropped first; an undo restores the files, too, and may take nothing out of
 * the log.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/conversation.h"
#include "agent/cli/terminal/term.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static void turn_release(struct repl *r, size_t turn)
{
	struct repl_before *before = &r->before[turn];

	task_turn_release(&r->turns[turn]);
	for (size_t i = 0; i < before->count; i++)
		task_file_release(&before->files[i]);
	free(before->files);
	if (before->replaced)
		sandbox_forget_state(r->session.sandbox, before->replaced->id);
	context_cell_free(before->replaced);
	free(before->code);
	if (before->has_last)
		loop_result_release(&before->last);
}

void repl_reset(struct repl *r)
{
	for (size_t i = 0; i < r->turn_count; i++)
		turn_release(r, i);
	free(r->turns);
	free(r->before);
	r->turns = NULL;
	r->before = NULL;
	r->turn_count = 0;
	r->own_turn = false;
	task_release(&r->files);
	context_go_back(&r->context, 0, 0);
	r->before_last = 0;
}

const struct context *repl_before_last(const struct repl *r, struct context *view)
{
	*view = r->context;
	if (view->count > r->before_last)
		view->count = r->before_last;
	if (view->from > view->count)
		view->from = view->count;
	return r->fresh ? NULL : view;
}

/* What the program left is what the next one starts from; one that took the place of another
 * is there instead of it. */
static void keep_cell(struct repl *r, struct repl_before *before, struct loop_result *result)
{
	if (result->cell && r->replaces && r->context.count > r->before_last)
		before->replaced = context_take_last(&r->context);
	before->cells = r->context.count;
	before->from = r->context.from;
	if (result->cell)
		context_add(&r->context, TAKE_PTR(result->cell), result->anew);
}

/* A file that a turn wrote is there for the next question. What was there
 * before is kept aside, for /undo. */
static void keep_file(struct repl *r, struct repl_before *before, const char *path,
		      const char *bytes, size_t len)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t at = repl_find_file(r, name);
	struct task_file *old;

	before->files = mem_array(before->files, before->count + 1, sizeof(*old));
	old = &before->files[before->count++];
	*old = (struct task_file){ .path = mem_strdup(name) };
	struct task_file *f;
	if (at == r->files.file_count) {
		r->files.files = mem_array(r->files.files, at + 1, sizeof(*f));
		r->files.files[r->files.file_count++] = (struct task_file){
			.path = mem_strdup(name),
		};
	} else {
		term_note(r->term, TERM_YELLOW, "/in/");
		term_visible(r->term, name, strlen(name));
		term_note(r->term, TERM_YELLOW,
			  " is now what this program wrote; /undo brings the one "
			  "before back\n");
	}
	f = &r->files.files[at];
	old->bytes = f->bytes;
	old->len = f->len;
	old->from = TAKE_PTR(f->from);
	old->input = TAKE_PTR(f->input);
	f->bytes = mem_strndup(bytes, len);
	f->len = len;
	old->made = f->made;
	f->made = true;
}

/* No turn that is left can go back to them. */
static void forget_cells(struct repl *r)
{
	size_t n = r->context.from;

	for (size_t i = 0; i < r->turn_count; i++)
		n = r->before[i].from < n ? r->before[i].from : n;
	context_forget(&r->context, n);
	for (size_t i = 0; i < r->turn_count; i++) {
		r->before[i].from -= n;
		r->before[i].cells -= n;
	}
	r->before_last -= n < r->before_last ? n : r->before_last;
}

static void drop_oldest(struct repl *r)
{
	conversation_tell_dropped(r->term, &r->turns[0]);
	turn_release(r, 0);
	r->turn_count--;
	memmove(r->turns, r->turns + 1, r->turn_count * sizeof(*r->turns));
	memmove(r->before, r->before + 1, r->turn_count * sizeof(*r->before));
	forget_cells(r);
}

void repl_keep_turn(struct repl *r, const char *question, struct loop_result *result)
{
	const struct sandbox_stream *out = &result->execution.out;
	const struct sandbox_stream *notes = &result->execution.err;
	bool stays = result->cell; /* its files are in the work folder */

	r->undone = false;
	if (r->turn_count == CONVERSATION_TURNS)
		drop_oldest(r);
	r->turns = mem_array(r->turns, r->turn_count + 1, sizeof(*r->turns));
	r->before = mem_array(r->before, r->turn_count + 1, sizeof(*r->before));
	struct repl_before *before = &r->before[r->turn_count];
	*before = (struct repl_before){ .files = NULL };
	memcpy(before->run, result->run, sizeof(before->run));
	r->turns[r->turn_count++] = (struct task_turn){
		.question = mem_strdup(question),
		.code = mem_strdup(result->code),
		.lang = result->language,
		.output = result->executed && out->len ? mem_strndup(out->bytes, out->len) : NULL,
		.notes = result->executed && notes->len ? mem_strndup(notes->bytes, notes->len) :
							  NULL,
		.answer = mem_strdup(result->answer),
	};
	keep_cell(r, before, result);
	for (size_t i = 0; !stays && result->executed && i < result->execution.artifact_count;
	     i++) {
		const struct sandbox_artifact *a = &result->execution.artifacts[i];

		if (a->kept)
			keep_file(r, before, a->path, a->bytes, (size_t)a->size);
	}
}

void repl_keep_last(struct repl *r, struct loop_result *result, size_t cells_before)
{
	struct repl_before *before = &r->before[r->turn_count - 1];

	before->asked = true;
	before->last = r->last;
	before->has_last = r->has_last;
	before->before_last = r->before_last;
	r->last = *result;
	r->has_last = true;
	r->before_last = cells_before;
}

bool repl_need_last(const struct repl *r, const char *none)
{
	if (r->has_last)
		return true;
	term_error(r->term, "%s",
		   r->undone ? "the last answer was taken back; /show has its run" : none);
	return false;
}

/* What was said and done before the turn is the last again. */
static void restore_last(struct repl *r, struct repl_before *before)
{
	if (before->code) {
		free(r->last.code);
		r->last.code = TAKE_PTR(before->code);
		r->last.code_len = strlen(r->last.code);
	}
	if (!before->asked)
		return;
	if (r->has_last)
		loop_result_release(&r->last);
	r->last = before->last;
	r->has_last = before->has_last;
	r->before_last = before->before_last;
	before->has_last = false;
	free(r->last_question);
	r->last_question = mem_strdup(r->turns[r->turn_count - 1].question);
}

/* The file as it was before a turn; without bytes it was not there. */
static void restore(struct repl *r, struct task_file *old)
{
	size_t at = repl_find_file(r, old->path);
	struct task_file *f = &r->files.files[at];

	if (at == r->files.file_count)
		return;
	if (old->bytes || old->input) {
		char *name = TAKE_PTR(f->path);

		task_file_release(f);
		*f = *old;
		free(f->path);
		f->path = name;
		*old = (struct task_file){ .path = NULL };
		return;
	}
	repl_drop_file(r, at);
}

/* What it left takes memory of the programs to come. */
static void forget_states(const struct repl *r, size_t from)
{
	for (size_t i = from; i < r->context.count; i++)
		sandbox_forget_state(r->session.sandbox, r->context.cells[i].id);
}

bool repl_undo_turn(struct repl *r)
{
	if (!r->turn_count)
		return false;
	struct repl_before *before = &r->before[r->turn_count - 1];
	for (size_t i = before->count; i-- > 0;)
		restore(r, &before->files[i]);
	forget_states(r, before->cells);
	context_go_back(&r->context, before->cells, before->from);
	if (before->replaced)
		context_add(&r->context, TAKE_PTR(before->replaced), false);
	restore_last(r, before);
	turn_release(r, --r->turn_count);
	r->own_turn = false;
	return true;
}
