/*
 * What a conversation sends to the model, in tokens, and how it is taken up again. Tokens are an
 * estimate by length: who counts them is the model's server, after the call.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/conversation.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/recorded.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES   4	   /* about */
#define NOTES_SENT    1000 /* as OUTPUT_SENT */
#define OUTPUT_SENT   4000 /* of each turn: the rest is left out (agent/prompt/context.c) */
#define QUESTION_SIZE ((size_t)4096)

static size_t tokens(const char *text, size_t most)
{
	size_t len = text ? strlen(text) : 0;

	return ((len < most ? len : most) + TOKEN_BYTES - 1) / TOKEN_BYTES;
}

/* The first line of a question, cut to what is left of the terminal's, which "…" says. */
static char *title(const char *question, size_t used)
{
	struct buf shown = BUF_INIT(QUESTION_SIZE * 8);
	size_t columns = term_columns(), len = strcspn(question, "\n");
	size_t room = columns > used + 8 ? columns - used : 8;

	utf8_visible(&shown, question, len < QUESTION_SIZE ? len : QUESTION_SIZE);
	size_t whole = shown.len;
	if (utf8_fit(shown.data, whole, room) < whole || question[len]) {
		buf_truncate(&shown, utf8_fit(shown.data, whole, room - 1));
		buf_addstr(&shown, "…");
	}
	return buf_take(&shown, NULL);
}

void repl_tell_dropped(const struct task_turn *turn)
{
	cleanup_free char *question = title(turn->question, 46);

	term_line(TERM_YELLOW, 0, "no longer sent to the model, which is told %zu turns: \"%s\"",
		  CONVERSATION_TURNS, question);
}

void repl_tell_undone(const struct task_turn *turn)
{
	cleanup_free char *question = title(turn->question, 60);

	term_line(TERM_DIM, 0, "forgotten, and what its program left (the log keeps it): \"%s\"",
		  question);
}

static size_t turn_tokens(const struct task_turn *t)
{
	return tokens(t->question, SIZE_MAX) + tokens(t->code, SIZE_MAX) +
	       tokens(t->output, OUTPUT_SENT) + tokens(t->notes, NOTES_SENT) +
	       (task_turn_is_printed(t) ? 0 : tokens(t->answer, SIZE_MAX));
}

/* The first call of a run, as it was sent; NULL when it has none. */
static struct json *first_messages(const struct recording *r)
{
	struct error ignored = ERROR_INIT; /* purged */
	struct json *messages = NULL;

	for (size_t i = 0; i < r->count && !messages; i++) {
		cleanup_free char *text = NULL;
		size_t len;

		if (json_get(r->events[i].data, "messages") &&
		    recording_blob(r, r->events[i].data, "messages", &text, &len, &ignored) == 0)
			messages = json_parse(text, len, 0, &ignored);
	}
	return messages;
}

/* What the last question was sent with beside the turns before it. */
static void tell_last(const struct repl *r)
{
	static const char *const parts[] = {
		"the sandbox, its limits, the files and their previews", "what the model is to do",
		"the question with the turns before it"
	};
	struct error ignored = ERROR_INIT;
	struct recording record;

	if (!r->has_last || recording_load(&record, r->session.audit, r->last.run, &ignored) < 0)
		return;
	cleanup_json struct json *messages = first_messages(&record);
	term_line(TERM_DIM, 0, "the last question was sent with, in its first call:");
	size_t i = 0;
	for (const struct json *m = json_first(messages); m && i < ARRAY_SIZE(parts);
	     m = json_next(m), i++)
		term_line(TERM_PLAIN, 0, "%8zu  %s",
			  tokens(json_get_string(m, "content"), SIZE_MAX), parts[i]);
	recording_release(&record);
	if (r->last.usage.source == LLM_USAGE_REPORTED)
		term_note(TERM_DIM, "all its calls: %" PRId64 " tokens in, %" PRId64 " out\n",
			  r->last.usage.input_tokens, r->last.usage.output_tokens);
}

void repl_context(struct repl *r, const char *argument)
{
	(void)argument;
	term_note(TERM_DIM, "tokens, estimated by length\n");
	size_t all = 0;
	for (size_t i = 0; i < r->turn_count; i++) {
		cleanup_free char *question = title(r->turns[i].question, 20);
		size_t n = turn_tokens(&r->turns[i]);

		term_note(TERM_PLAIN, "%8zu  turn %zu: %s\n", n, i + 1, question);
		all += n;
	}
	term_line(TERM_PLAIN, 0, "%8zu  %zu turn%s will be sent with the next question%s", all,
		  r->turn_count, r->turn_count == 1 ? "" : "s",
		  r->turn_count == CONVERSATION_TURNS ? ", and then the oldest no more" : "");
	tell_last(r);
}

static bool is_of(const struct task_turn *turn, const struct context *c, size_t n)
{
	return turn->code && n > 0 && c->cells[n - 1].len == strlen(turn->code) &&
	       !memcmp(c->cells[n - 1].code, turn->code, c->cells[n - 1].len);
}

static bool is_named(const struct task_turn *turn, const char *did)
{
	return *turn->question == '(' && !strncmp(turn->question + 1, did, strlen(did));
}

/* To take back a turn that the log has is to take back its program's cell, if it left one: of those
 * before the last turn by their text, newest first. One that only ran again is the question's that
 * it stands for; of one that was edited that of before is gone. */
static void find_cells_before(struct repl *r, size_t from)
{
	const struct context *c = &r->context;
	size_t at = r->before_last;

	for (size_t i = r->turn_count; i-- > 0;) {
		const struct task_turn *turn = &r->turns[i];
		bool own = i + 1 < r->turn_count && !is_named(turn, REPL_RAN) && is_of(turn, c, at);

		at -= own;
		r->before[i] = (struct repl_before){ .asked = true,
						     .unknown = own && is_named(turn, REPL_EDITED),
						     .cells = at,
						     .from = from < at ? from : at };
	}
}

static struct sandbox_stream printed(const char *text)
{
	size_t len = text ? strlen(text) : 0;

	return (struct sandbox_stream){ mem_strndup(text ? text : "", len), len, len, false };
}

/* What /code, /run and the like are about till there is a new question. */
static void take_last(struct repl *r, struct conversation *c)
{
	const struct task_turn *turn = r->turn_count ? &r->turns[r->turn_count - 1] : NULL;
	bool has_code = turn && turn->code && c->lang;

	if (!turn)
		return;
	r->last = (struct loop_result){
		.answer = mem_strdup(turn->answer),
		.code = has_code ? mem_strdup(turn->code) : NULL,
		.code_len = has_code ? strlen(turn->code) : 0,
		.language = c->lang,
		.executed = has_code && c->executed,
	};
	memcpy(r->last.run, c->run, sizeof(r->last.run));
	if (r->last.executed) {
		r->last.execution.out = printed(turn->output);
		r->last.execution.err = printed(turn->notes);
		r->last.execution.artifacts = TAKE_PTR(c->artifacts);
		r->last.execution.artifact_count = c->artifact_count;
		c->artifact_count = 0;
	}
	r->has_last = true;
	r->last_question = mem_strdup(turn->question);
}

int repl_continue(struct repl *r, struct error *err)
{
	struct conversation c;
	struct task task = { .files = r->files.files, .file_count = r->files.file_count };

	if (conversation_last(r->session.audit, &c, err) < 0)
		return -1;
	memcpy(r->session_id, c.session, sizeof(r->session_id));
	conversation_give(&c, &task);
	free(r->context.name);
	r->context = c.context;
	c.context = (struct context){ .name = NULL };
	r->before_last = c.cells;
	size_t from = c.from;
	r->files.files = task.files;
	r->files.file_count = task.file_count;
	r->turns = task.turns;
	r->turn_count = task.turn_count;
	r->before = mem_alloc(r->turn_count * sizeof(*r->before));
	find_cells_before(r, from);
	take_last(r, &c);
	conversation_release(&c);
	for (size_t i = 0; i < r->turn_count; i++) {
		cleanup_free char *question = title(r->turns[i].question, 10);

		term_note(TERM_DIM, "%s %s\n", i ? "       " : "before:", question);
	}
	return 0;
}
