/*
 * The model's own verdict on output and answer. It may take back checks of the
 * plan that were wrong guesses, once a run, and word the answer where nobody
 * else has.
 */
#include "agent/stages/judge.h"

#include "agent/attempt.h"
#include "agent/run.h"
#include "agent/stages/answer.h"
#include "agent/stages/call.h"
#include "agent/stages/cell.h"
#include "base/mem.h"
#include "verifier/judge.h"

#include <stdlib.h>
#include <string.h>

struct judge_memory {
	struct json *withdrawn; /* kinds of the plan's checks that the judge took back; or NULL */
	struct error not_asked; /* why a judge or tester could not be, the first; or ERR_NONE */
};

bool run_has_judge(const struct run *r)
{
	return r->policy->judge && !r->policy->roles[ROLE_JUDGE].off;
}

int run_could_not_ask(struct run *r, const char *kind, enum check_source source, struct error *err)
{
	if (err->kind != ERR_PROVIDER && err->kind != ERR_BUDGET)
		return -1;
	struct check_result c =
		(struct check_result){ kind, source, VERDICT_ERROR, mem_strdup(err->message) };
	run_add_check(r, &c);
	if (r->judge->not_asked.kind == ERR_NONE)
		r->judge->not_asked = *err;
	return 0;
}

static bool is_failing_guess(const struct check_result *c)
{
	return c->source == CHECK_PLANNER && c->verdict == VERDICT_FAIL;
}

/* The plan's checks that the output fails, a line each; "" when there are none. */
static char *failing_guesses(const struct run *r)
{
	struct buf out = BUF_INIT((size_t)256 << 10);

	for (size_t i = 0; i < r->result.check_count; i++)
		if (is_failing_guess(&r->result.checks[i]))
			buf_addf(&out, "- %s: %s\n", r->result.checks[i].kind,
				 r->result.checks[i].detail);
	return buf_take(&out, NULL);
}

static bool names(const struct json *list, const char *kind)
{
	const struct json *item = json_first(list);

	for (; item; item = json_next(item))
		if (json_string(item) && !strcmp(json_string(item), kind))
			return true;
	return false;
}

/* The person has seen it fail. */
static void tell_withdrawn(const struct run *r, const char *kind)
{
	const struct progress *p = &r->loop->progress;
	cleanup_free char *line =
		mem_printf("the judge took the check \"%s\" of the plan back: a wrong guess", kind);

	if (p->note)
		p->note(p->self, line);
}

/* Those that a passing verdict names, or all of them, decide nothing any more, in any
 * attempt. */
static void withdraw(struct run *r, const struct judgement *j, bool all)
{
	for (size_t i = 0; i < r->result.check_count; i++) {
		struct check_result *c = &r->result.checks[i];
		char *failed = c->detail;

		if (!is_failing_guess(c) || (!all && !names(j->withdraw, c->kind)))
			continue;
		c->verdict = VERDICT_SKIPPED;
		c->detail = mem_printf("%s The judge took this check of the plan back: it was a "
				       "wrong guess.",
				       failed);
		free(failed);
		r->judge->withdrawn = r->judge->withdrawn ? r->judge->withdrawn : json_array();
		json_append(r->judge->withdrawn, json_new_string(c->kind));
		tell_withdrawn(r, c->kind);
	}
}

/* Asks, and once more where the verdict cannot be read: a matter of form. */
static int ask(struct run *r, const char *failing, const char *again, struct judgement *ret,
	       struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	struct prompt_extra extra = { .failing = failing, .again = again };
	cleanup_free char *both = NULL;
	bool quotable = judge_is_quotable(r->execution.out.bytes, r->execution.out.len) ||
			judge_is_quotable(r->execution.err.bytes, r->execution.err.len);

	for (int tries = 0; tries < 2; tries++) {
		llm_reply_release(&reply);
		if (run_ask(r, ROLE_JUDGE, &extra, &reply, err) < 0)
			return -1;
		judge_read(reply.text, reply.text_len, quotable, ret);
		if (ret->check.verdict != VERDICT_ERROR || tries)
			return 0;
		judgement_release(ret);
		both = mem_printf("%s%sYour reply could not be read. Reply with the JSON object "
				  "alone: {\"reason\": \"...\", \"verdict\": \"pass\" or "
				  "\"fail\"%s}",
				  again ? again : "", again ? " " : "",
				  *failing ? ", \"withdraw\": [the kinds of wrong checks]" : "");
		extra.again = both;
	}
	return 0;
}

/* The output passes, though it fails checks of which the verdict says nothing: the
 * judge is asked about them once, since a repair of a right program costs more. *ret_all:
 * it has passed the output again, knowing that this takes them all back. */
static int settle_guesses(struct run *r, const char *failing, struct judgement *j, bool *ret_all,
			  struct error *err)
{
	static const char again[] =
		"Your verdict was \"pass\", but the output fails the checks above. Judge again: "
		"\"fail\" if one of them is right; \"pass\" if they were wrong guesses, which "
		"takes "
		"them back.";

	*ret_all = false;
	if (!*failing || j->check.verdict != VERDICT_PASS || json_first(j->withdraw))
		return 0;
	judgement_release(j);
	if (ask(r, failing, again, j, err) < 0)
		return -1;
	*ret_all = !json_first(j->withdraw);
	return 0;
}

/* The judge's wording, when it may stand; *ret_why: what it had that it may not. */
static void take_wording(struct run *r, struct judgement *j, char **ret_why)
{
	*ret_why = NULL;
	if (r->draft || !j->answer || j->check.verdict != VERDICT_PASS || !run_may_word(r))
		return;
	*ret_why = run_ungrounded(r, j->answer);
	if (!*ret_why)
		r->draft = TAKE_PTR(j->answer);
}

int run_judge(struct run *r, struct error *err)
{
	cleanup_free char *failing = failing_guesses(r), *why = NULL, *again = NULL;

	if (run_find_needed(r, err) < 0)
		return -1;
	struct judgement j;
	bool all;
	if (ask(r, failing, NULL, &j, err) < 0 || settle_guesses(r, failing, &j, &all, err) < 0)
		return run_could_not_ask(r, role_name(ROLE_JUDGE), CHECK_JUDGE, err);
	take_wording(r, &j, &why);
	if (why) {
		judgement_release(&j);
		again = mem_printf("Your \"answer\" had %s. Judge again, and write it without "
				   "numbers of your own, or leave it null.",
				   why);
		mem_cleanup_free(&why);
		if (ask(r, failing, again, &j, err) < 0)
			return run_could_not_ask(r, role_name(ROLE_JUDGE), CHECK_JUDGE, err);
		take_wording(r, &j, &why);
		if (why)
			run_tell_ungrounded(r, why);
	}
	if (j.check.verdict == VERDICT_PASS && !r->judge->withdrawn)
		withdraw(r, &j, all);
	run_add_check(r, &j.check);
	j.check.detail = NULL;
	judgement_release(&j);
	return 0;
}

const struct json *run_withdrawn(const struct run *r)
{
	return r->judge->withdrawn;
}

const struct error *run_not_asked(const struct run *r)
{
	return &r->judge->not_asked;
}

void run_judge_begin(struct run *r)
{
	r->judge = mem_alloc(sizeof(*r->judge));
}

void run_judge_release(struct run *r)
{
	json_free(r->judge->withdrawn);
	free(r->judge);
}
