/*
 * What a conversation sends to the model, in tokens, and how it is taken up again. Tokens are an
 * estimate by length: who counts them is the model's server, after the call. It may not ask a
 * model.
 */
#include "agent/cli/repl/repl.h"

#include "agent/cli/conversation.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/recording.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_BYTES 4.0	 /* about, where nobody counted */
#define NOTES_SENT  1000 /* as OUTPUT_SENT */
#define OUTPUT_SENT 4000 /* of each turn: the rest is left out (agent/prompt/context.c) */

static size_t length(const char *text, size_t most)
{
	size_t len = text ? strlen(text) : 0;

	return len < most ? len : most;
}

void repl_tell_undone(struct terminal *term, const struct task_turn *turn)
{
	cleanup_free char *question = conversation_title(turn->question, 60);

	term_line(term, TERM_DIM, 0,
		  "forgotten, and what its program left (the log keeps it): \"%s\"", question);
}

static size_t turn_length(const struct task_turn *t)
{
	return length(t->question, SIZE_MAX) + length(t->code, SIZE_MAX) +
	       length(t->output, OUTPUT_SENT) + length(t->notes, NOTES_SENT) +
	       (task_turn_is_printed(t) ? 0 : length(t->answer, SIZE_MAX));
}

/* The messages of a call; NULL where it is none, or they were purged. */
static struct json *messages_of(const struct recording *r, const struct recorded_event *e)
{
	struct error ignored = ERROR_INIT;
	cleanup_free char *text = NULL;
	size_t len;

	if (!json_get(e->data, "messages") ||
	    recording_blob(r, e->data, "messages", &text, &len, &ignored) < 0)
		return NULL;
	return json_parse(text, len, 0, &ignored);
}

/* What is known of the calls of the last question. */
struct sent {
	size_t parts[3], count; /* lengths of what the first one was sent with */
	size_t all;		/* of all of them */
	double token_bytes;
	bool counted; /* by the model's server */
};

static struct sent last_sent(const struct repl *r)
{
	struct sent sent = { .token_bytes = TOKEN_BYTES };
	struct error ignored = ERROR_INIT;
	struct recording record;

	if (!r->has_last || recording_load(&record, r->session.audit, r->last.run, &ignored) < 0)
		return sent;
	for (size_t i = 0; i < record.count; i++) {
		cleanup_json struct json *messages = messages_of(&record, &record.events[i]);
		bool first = !sent.count;

		for (const struct json *m = json_first(messages); m; m = json_next(m)) {
			size_t len = length(json_get_string(m, "content"), SIZE_MAX);

			sent.all += len;
			if (first && sent.count < ARRAY_SIZE(sent.parts))
				sent.parts[sent.count++] = len;
		}
	}
	recording_release(&record);
	sent.counted = r->last.usage.source == LLM_USAGE_REPORTED && sent.all &&
		       r->last.usage.input_tokens > 0;
	if (sent.counted)
		sent.token_bytes = (double)sent.all / (double)r->last.usage.input_tokens;
	return sent;
}

static size_t tokens(const struct sent *sent, size_t bytes)
{
	return (size_t)((double)bytes / sent->token_bytes + 0.999);
}

/* What the last question was sent with beside the turns before it. */
static void tell_last(const struct repl *r, const struct sent *sent)
{
	static const char *const parts[] = {
		"the sandbox, its limits, the files and their previews", "what the model is to do",
		"the question with the turns before it"
	};

	if (!r->has_last)
		return;
	term_line(r->term, TERM_DIM, 0, "the last question was sent with, in its first call:");
	for (size_t i = 0; i < sent->count; i++)
		term_line(r->term, TERM_PLAIN, 0, "%8zu  %s", tokens(sent, sent->parts[i]),
			  parts[i]);
	if (sent->counted)
		term_line(r->term, TERM_DIM, 0,
			  "all its calls: %" PRId64 " tokens in, %" PRId64 " out",
			  r->last.usage.input_tokens, r->last.usage.output_tokens);
}

void repl_context(struct repl *r, const char *argument)
{
	const struct sent sent = last_sent(r);
	cleanup_free char *there = context_there(&r->context);
	size_t all = strlen(there);

	(void)argument;
	if (sent.counted)
		term_line(r->term, TERM_DIM, 0,
			  "tokens by length, of %.1f bytes each as the model's server counted the "
			  "last question's",
			  sent.token_bytes);
	else
		term_line(r->term, TERM_DIM, 0, "tokens, estimated by length");
	for (size_t i = 0; i < r->turn_count; i++) {
		cleanup_free char *question = conversation_title(r->turns[i].question, 20);
		size_t n = turn_length(&r->turns[i]);

		term_note(r->term, TERM_PLAIN, "%8zu  turn %zu: %s\n", tokens(&sent, n), i + 1,
			  question);
		all += n;
	}
	if (*there)
		term_line(r->term, TERM_PLAIN, 0, "%8zu  what is in memory, as the model is told",
			  tokens(&sent, strlen(there)));
	term_line(r->term, TERM_PLAIN, 0,
		  "%8zu  %zu turn%s%s will be sent with the next question%s", tokens(&sent, all),
		  r->turn_count, r->turn_count == 1 ? "" : "s", *there ? " and this" : "",
		  r->turn_count == CONVERSATION_TURNS ? ", and then the oldest no more" : "");
	tell_last(r, &sent);
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

int repl_continue(struct repl *r, const char *run, struct error *err)
{
	struct conversation c;
	struct task task = { .files = r->files.files, .file_count = r->files.file_count };

	if (conversation_load(r->term, r->session.audit, run, &c, err) < 0)
		return -1;
	memcpy(r->session_id, c.session, sizeof(r->session_id));
	conversation_tell_limits(r->term, &c.context, &r->session.policy.limits);
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
	if (r->turn_count)
		memcpy(r->before[r->turn_count - 1].run, c.run, sizeof(c.run));
	take_last(r, &c);
	conversation_release(&c);
	for (size_t i = 0; i < r->turn_count; i++) {
		cleanup_free char *question = conversation_title(r->turns[i].question, 10);

		term_note(r->term, TERM_DIM, "%s %s\n", i ? "       " : "before:", question);
	}
	return 0;
}
