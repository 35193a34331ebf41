/*
 * One attempt of a run and what comes of it: whether its program is a new one, what it failed of,
 * and how a run ends with it. It does no stage's work, and says where the run goes by a step alone.
 */
#include "agent/attempt.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define TRIED_BYTES ((size_t)300) /* of an earlier attempt's failure, in a prompt */

bool run_has_expectation(const struct run *r)
{
	if (r->task->tests)
		return true;
	for (size_t i = 0; i < r->task->checks.count; i++)
		if (check_source_level(r->task->checks.checks[i].source) == LEVEL_EXPECTED)
			return true;
	return false;
}

size_t run_trimmed(const char *code, size_t len)
{
	while (len && strchr(" \t\r\n", code[len - 1]))
		len--;
	return len;
}

bool run_is_new(struct run *r)
{
	cleanup_free char *program = mem_printf("%s\n%.*s", r->language->name,
						(int)run_trimmed(r->code, r->code_len), r->code);
	char hash[HASH_HEX_LEN + 1];

	hash_sha256(program, strlen(program), hash);
	for (size_t i = 0; i < r->seen_count; i++)
		if (!strcmp(r->seen[i], hash))
			return false;
	r->seen = mem_array(r->seen, r->seen_count + 1, sizeof(*r->seen));
	memcpy(r->seen[r->seen_count++], hash, sizeof(hash));
	return true;
}

void run_add_check(struct run *r, struct check_result *result)
{
	struct loop_result *out = &r->result;

	if (r->loop->progress.check)
		r->loop->progress.check(r->loop->progress.self, result);
	out->checks = mem_array(out->checks, out->check_count + 1, sizeof(*out->checks));
	out->checks[out->check_count++] = *result;
}

enum step run_finish(struct run *r, enum run_status status, const char *reason)
{
	r->result.status = status;
	free(r->result.reason);
	r->result.reason = mem_strdup(reason);
	return STEP_END;
}

enum step run_answer_directly(struct run *r, char *answer, const char *why)
{
	cleanup_free char *accepts =
		setting_in_words(r->loop->names, SETTING_REQUIRE, "; ", " none accepts it", "");
	cleanup_free char *otherwise = mem_printf("%s, so nothing is verified%s", why, accepts);

	r->result.answer = answer;
	r->result.level = LEVEL_NONE;
	r->attempt = 0; /* attempts are programs */
	return r->policy->require == LEVEL_NONE ? run_finish(r, RUN_SUCCESS, NULL) :
						  run_finish(r, RUN_UNVERIFIED, otherwise);
}

void feedback_release(struct feedback *f)
{
	free(f->failure);
	free(f->told);
	free(f->excerpt);
	*f = (struct feedback){ .failure = NULL };
}

/* The first lines of what was told of the attempt before this one. */
static void remember_attempt(struct run *r)
{
	const char *told = r->feedback.told ? r->feedback.told : r->feedback.failure;
	size_t len = told ? strlen(told) : 0, shown = len < TRIED_BYTES ? len : TRIED_BYTES;
	char *before = r->tried;

	if (!told)
		return;
	shown = utf8_valid_prefix(told, shown);
	while (shown && told[shown - 1] == '\n')
		shown--;
	r->tried = mem_printf("%sAttempt %d: %.*s%s\n", before ? before : "", r->attempt - 1,
			      (int)shown, told, shown + 1 < len ? " ..." : "");
	free(before);
}

/* Why there was nothing to run, for whoever watches: a refusal, no code. What is
 * wrong with a program (it has an excerpt) or its run was shown when it was found. */
static void tell_not_run(const struct run *r)
{
	const struct progress *p = &r->loop->progress;

	if (p->note && !r->feedback.with_output && !r->feedback.excerpt)
		p->note(p->self, r->feedback.failure);
}

enum step run_attempt_failed(struct run *r, struct feedback feedback)
{
	remember_attempt(r);
	feedback_release(&r->feedback);
	r->feedback = feedback;
	if (r->attempt >= r->budget.limits.attempts || r->policy->roles[ROLE_REPAIR].off)
		return run_finish(r, feedback.status, feedback.failure);
	tell_not_run(r);
	return STEP_REPAIR;
}
