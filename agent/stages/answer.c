/*
 * The words the person reads: the output as it is, or prose that says no more. Prose with a
 * number that is in no source never replaces the output.
 */
#include "agent/stages/answer.h"

#include "agent/attempt.h"
#include "agent/run.h"
#include "agent/stages/call.h"
#include "base/mem.h"
#include "base/regex.h"
#include "verifier/ground/ground.h"

#include <stdlib.h>
#include <string.h>

/* So short an output needs no words around it when the question asked for just it. */
#define BARE_BYTES 60

char *run_ungrounded(const struct run *r, const char *text)
{
	const struct sandbox_result *x = &r->execution;
	cleanup_free const char **names = mem_alloc((x->artifact_count + 1) * sizeof(*names));
	struct ground from = {
		.output = x->out.bytes ? x->out.bytes : "",
		.output_len = x->out.len,
		.notes = x->err.bytes ? x->err.bytes : "",
		.notes_len = x->err.len,
		.question = r->task->prompt,
		.restated = r->task->turn_count ? r->plan.question : NULL,
		.names = names,
		.name_count = x->artifact_count,
	};

	for (size_t i = 0; i < x->artifact_count; i++)
		names[i] = x->artifacts[i].path;
	return ground_fault(&from, text);
}

void run_tell_ungrounded(const struct run *r, const char *fault)
{
	cleanup_free char *line = mem_printf("the written answer had %s, so the output is shown "
					     "as it is",
					     fault);

	if (r->loop->progress.note)
		r->loop->progress.note(r->loop->progress.self, line);
}

bool run_may_word(const struct run *r)
{
	return r->policy->mode != MODE_FAST && !r->policy->roles[ROLE_ANSWER].off &&
	       !run_has_expectation(r) && r->policy->require <= LEVEL_JUDGED &&
	       r->execution.out.len;
}

/* A question that says what is to be printed: "Print the total", "..., only the number". */
static bool asks_for_output(const char *question)
{
	static const char pattern[] =
		"(?:^|[.!?:;,]\\s+|\\b(?:and|then|please)\\s+)(?:print|output|return)\\b|"
		"\\b(?:only|just)\\s+(?:(?:the|a|an|its|that|this|one)\\s+)*"
		"(?:number|value|result|answer|name|count|total|sum|word|date|line|output)\\b"
		"(?!\\s+(?:of|for|from|in|above|below|over|under|that|which|who)\\b)";
	struct error ignored = ERROR_INIT; /* a question too long for it asks for prose */
	cleanup_regex struct regex *re = regex_compile(pattern, REGEX_ICASE, &ignored);

	return re && regex_search(re, question, strlen(question), 0, NULL, 0, &ignored) > 0;
}

/* A single short line, where that was asked for. */
static bool is_bare(const struct run *r)
{
	const struct sandbox_stream *out = &r->execution.out;
	const char *end = memchr(out->bytes, '\n', out->len);

	return out->len <= BARE_BYTES && (!end || end + 1 == out->bytes + out->len) &&
	       asks_for_output(r->task->prompt);
}

/* What is wrong with a written answer, as what it "had"; NULL: nothing. */
static char *why_not(const struct run *r, const struct llm_reply *reply)
{
	if (!reply->text_len)
		return mem_strdup("no text");
	if (reply->stop != LLM_STOP_STOP)
		return mem_strdup("no end (make it shorter)");
	return run_ungrounded(r, reply->text);
}

/* One try; *ret_why is what was wrong with it, or NULL. */
static int write_once(struct run *r, const char *again, char **ret_why, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	const struct prompt_extra extra = { .again = again };

	*ret_why = NULL;
	if (run_ask(r, ROLE_ANSWER, &extra, &reply, err) < 0)
		return -1;
	*ret_why = why_not(r, &reply);
	if (!*ret_why)
		r->draft = TAKE_PTR(reply.text);
	return 0;
}

int run_write_answer(struct run *r, struct error *err)
{
	cleanup_free char *why = NULL;

	if (!run_may_word(r) || is_bare(r))
		return 0;
	int rc = write_once(r, NULL, &why, err);
	if (!rc && why) {
		cleanup_free char *again =
			mem_printf("Your answer had %s. Write it anew, without numbers of your "
				   "own.",
				   why);
		mem_cleanup_free(&why);
		rc = write_once(r, again, &why, err);
	}
	if (rc && (err->kind == ERR_LOG || err->kind == ERR_CANCELLED))
		return -1;
	/* The evidence stands without prose: the output is the answer. */
	if (rc && r->loop->progress.note)
		r->loop->progress.note(r->loop->progress.self, err->message);
	else if (why)
		run_tell_ungrounded(r, why);
	if (rc)
		error_clear(err);
	return 0;
}
