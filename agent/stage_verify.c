/*
 * What the output is worth. Checks first, in C; then tests and a second
 * program when asked for; the judge last, and only when nothing from outside
 * the model has already decided.
 */
#include "agent/run.h"

#include "base/mem.h"
#include "verifier/extract.h"
#include "verifier/judge.h"

#include <stdlib.h>
#include <string.h>

#define TOLD_MAX ((size_t)256 << 10)

bool run_has_expectation(const struct run *r)
{
	size_t i;

	if (r->task->tests)
		return true;
	for (i = 0; i < r->task->checks.count; i++)
		if (check_source_level(r->task->checks.checks[i].source) == LEVEL_EXPECTED)
			return true;
	return false;
}

static void add_skipped(struct run *r, const char *kind, enum check_source source,
			enum verdict verdict, const char *detail)
{
	struct check_result c = { kind, source, verdict, mem_strdup(detail) };

	run_add_check(r, &c);
}

/* A check that the model proposed for its own program may fail it, but passes
 * only when it could have failed. */
static void discount(const struct check *check, struct check_result *c)
{
	const char *passed_by = NULL;
	char *held;

	if (c->source == CHECK_PLANNER && c->verdict == VERDICT_PASS)
		passed_by = check_passed_by(check);
	if (!passed_by)
		return;
	held = c->detail;
	c->verdict = VERDICT_SKIPPED;
	c->detail = mem_printf("It proves nothing, since %s would pass it. %s", passed_by, held);
	free(held);
}

static void run_checks(struct run *r)
{
	size_t i;

	for (i = 0; i < r->checks.count; i++) {
		struct check_result c;

		if (check_is_vacuous(&r->checks.checks[i])) {
			add_skipped(r, r->checks.checks[i].kind, r->checks.checks[i].source,
				    VERDICT_SKIPPED,
				    "no output could fail this check, so it proves nothing");
			continue;
		}
		check_evaluate(&r->checks.checks[i], &r->execution, &c);
		discount(&r->checks.checks[i], &c);
		run_add_check(r, &c);
	}
}

/* A call whose failure must not look like a verdict: noted, and the run's
 * status if nothing else verifies it. -1 only for what ends the run. */
static int could_not_ask(struct run *r, const char *kind, enum check_source source,
			 struct error *err)
{
	if (err->kind != ERR_PROVIDER && err->kind != ERR_BUDGET)
		return -1;
	add_skipped(r, kind, source, VERDICT_ERROR, err->message);
	if (!r->provider_failure)
		r->provider_failure = mem_strdup(err->message);
	return 0;
}

/* --- tests the model writes --- */

/* Asks a role for code: the block in its reply, screened. NULL code with 0:
 * nothing usable came, and a check result says so. */
static int ask_for_code(struct run *r, enum role role, enum check_source source, bool want_tests,
			char **ret_code, size_t *ret_len, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	cleanup_extraction struct extraction x = { .blocks = NULL };
	struct extract_options options = { .want_lang = r->language->name };
	cleanup_free char *reason = NULL;
	const struct code_block *block;
	struct prompt prompt;
	bool allowed = false;
	int rc;

	*ret_code = NULL;
	if (run_prompt(r, role, &prompt, err) < 0)
		return -1;
	rc = run_call(r, role, &prompt, NULL, &reply, err);
	prompt_release(&prompt);
	if (rc)
		return could_not_ask(r, role_name(role), source, err);
	if (extract_code(reply.text, reply.text_len, &options, &x, err) < 0)
		return -1;
	block = want_tests ? extraction_tests(&x) : NULL;
	block = block ? block : extraction_chosen(&x);
	if (!block) {
		add_skipped(r, role_name(role), source, VERDICT_ERROR, "the reply held no code");
		return 0;
	}
	*ret_code = mem_strndup(block->code, block->code_len);
	*ret_len = block->code_len;
	if (run_screen_code(r, role_name(role), ret_code, ret_len, &allowed, &reason, err) < 0) {
		mem_cleanup_free(ret_code);
		return -1;
	}
	if (!allowed) {
		mem_cleanup_free(ret_code);
		add_skipped(r, role_name(role), source, VERDICT_ERROR,
			    reason ? reason : "not approved");
	}
	return 0;
}

static int write_tests(struct run *r, struct error *err)
{
	cleanup_free char *tests = NULL;
	size_t len;

	if (ask_for_code(r, ROLE_TESTS, CHECK_TESTS, true, &tests, &len, err) < 0)
		return -1;
	return tests ? run_written_tests(r, tests, err) : 0;
}

/* --- a second program --- */

static int compare_second(struct run *r, const char *code, size_t len, struct error *err)
{
	struct sandbox_result x = { .exit_code = -1 };
	struct failure f = { .type = NULL };
	struct check_result c;
	int rc;

	rc = run_execute_code(r, code, len, NULL, NULL, &x, err);
	if (rc)
		return rc;
	failure_find(r->language->name, r->language->file, &x, &f);
	rc = journal_execution(&r->journal, r->attempt, &x, &f, err);
	rc = rc ? rc : run_check_deadline(r, &x, err);
	if (!rc && (x.outcome != SANDBOX_EXIT || x.exit_code != 0)) {
		add_skipped(r, "cross_check", CHECK_CROSS_CHECK, VERDICT_ERROR,
			    "the second program failed, so nothing was compared");
	} else if (!rc) {
		check_outputs_agree(&r->execution, &x, &c);
		run_add_check(r, &c);
	}
	failure_release(&f);
	sandbox_result_release(&x);
	return rc;
}

static size_t skip_blanks(const char *code, size_t len, size_t at)
{
	while (at < len && strchr(" \t\r\n", code[at]) && code[at])
		at++;
	return at;
}

/* The same but for blanks: written twice, not thought of twice. */
static bool same_program(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t i = skip_blanks(a, a_len, 0), j = skip_blanks(b, b_len, 0);

	while (i < a_len && j < b_len && a[i] == b[j]) {
		i = skip_blanks(a, a_len, i + 1);
		j = skip_blanks(b, b_len, j + 1);
	}
	return i == a_len && j == b_len;
}

static int cross_check(struct run *r, struct error *err)
{
	cleanup_free char *code = NULL;
	const struct sandbox_stream *first = &r->execution.out;
	size_t len;

	if (!first->len || strspn(first->bytes, " \t\r\n") == first->len) {
		add_skipped(r, "cross_check", CHECK_CROSS_CHECK, VERDICT_SKIPPED,
			    "the program printed nothing, so there is nothing to compare");
		return 0;
	}
	if (ask_for_code(r, ROLE_CROSS_CHECK, CHECK_CROSS_CHECK, false, &code, &len, err) < 0)
		return -1;
	if (!code)
		return 0;
	if (same_program(code, len, r->code, r->code_len)) {
		add_skipped(r, "cross_check", CHECK_CROSS_CHECK, VERDICT_SKIPPED,
			    "the second program is the first one, so it proves nothing");
		return 0;
	}
	return compare_second(r, code, len, err);
}

/* --- the judge --- */

static int judge(struct run *r, struct error *err)
{
	cleanup_llm_reply struct llm_reply reply = { .text = NULL };
	struct check_result c;
	struct prompt prompt;
	int rc;

	if (run_prompt(r, ROLE_JUDGE, &prompt, err) < 0)
		return -1;
	rc = run_call(r, ROLE_JUDGE, &prompt, NULL, &reply, err);
	prompt_release(&prompt);
	if (rc)
		return could_not_ask(r, "judge", CHECK_JUDGE, err);
	judge_read(reply.text, reply.text_len, &c);
	run_add_check(r, &c);
	return 0;
}

/* --- the verdict --- */

static const struct check_result *first_failure(const struct run *r)
{
	size_t i;

	for (i = 0; i < r->result.check_count; i++)
		if (r->result.checks[i].verdict == VERDICT_FAIL)
			return &r->result.checks[i];
	return NULL;
}

static enum level level_of(const struct run *r)
{
	enum level level = LEVEL_RAN, proven;
	size_t i;

	for (i = 0; i < r->result.check_count; i++) {
		if (r->result.checks[i].verdict != VERDICT_PASS)
			continue;
		if (r->disputed && r->result.checks[i].source == CHECK_PLANNER)
			continue;
		proven = check_source_level(r->result.checks[i].source);
		level = proven > level ? proven : level;
	}
	return level;
}

/* An outside expectation that could not be evaluated was not met. */
static const struct check_result *unmet_expectation(const struct run *r)
{
	size_t i;

	for (i = 0; i < r->result.check_count; i++) {
		const struct check_result *c = &r->result.checks[i];

		if (c->verdict == VERDICT_ERROR && check_source_level(c->source) == LEVEL_EXPECTED)
			return c;
	}
	return NULL;
}

static bool has_judge(const struct run *r)
{
	return r->settings->judge && !r->settings->roles[ROLE_JUDGE].off;
}

static int more_checks(struct run *r, struct error *err)
{
	const struct settings *s = r->settings;

	if (s->tests && !r->task->tests && !first_failure(r) && write_tests(r, err) < 0)
		return -1;
	if (s->cross_check && !first_failure(r) && cross_check(r, err) < 0)
		return -1;
	if (has_judge(r) && !first_failure(r) && !unmet_expectation(r) &&
	    level_of(r) < LEVEL_EXPECTED && judge(r, err) < 0)
		return -1;
	return 0;
}

static int record_verdict(struct run *r, struct error *err)
{
	cleanup_json struct json *data = json_object();
	struct json *checks = json_array();
	size_t i;

	for (i = 0; i < r->result.check_count; i++)
		json_append(checks, check_result_json(&r->result.checks[i]));
	json_set(data, "checks", checks);
	json_set_string(data, "level", level_name(r->result.level));
	return journal_queue(&r->journal, "verify", r->attempt, "done", data, NULL, 0, err);
}

/* Where the output misses an expectation, without the value expected. */
static void tell_miss(struct buf *out, const struct run *r, const struct check_result *bad)
{
	size_t i;

	for (i = 0; i < r->checks.count; i++) {
		const struct check *c = &r->checks.checks[i];
		struct check_result again;
		bool missed;

		if (c->kind != bad->kind || c->source != bad->source)
			continue;
		check_evaluate(c, &r->execution, &again);
		missed = again.verdict != VERDICT_PASS;
		check_result_release(&again);
		if (!missed)
			continue;
		check_hint(out, c, &r->execution);
		return;
	}
}

/* What the grader expects is for the grader: a model that is shown the answer
 * would copy it, and level `expected` would say nothing. */
static void tell_failure(struct buf *out, const struct run *r, const struct check_result *bad)
{
	const char *source = check_source_name(bad->source);

	if (check_source_level(bad->source) == LEVEL_EXPECTED && check_holds_answer(bad->kind)) {
		buf_addf(out,
			 "The output is not what was expected (%s, from the %s; the expected value "
			 "is not shown, so that it is computed and not copied).",
			 bad->kind, source);
		tell_miss(out, r, bad);
	} else {
		buf_addf(out, "A check failed (%s, from the %s): %s", bad->kind, source,
			 bad->detail ? bad->detail : "");
	}
	buf_addch(out, '\n');
}

/* Everything that speaks against the program: mending one fault at a time
 * would cost an attempt each. */
static char *tell_failures(const struct run *r, const struct check_result *bad)
{
	struct buf out = BUF_INIT(TOLD_MAX);
	size_t i;

	buf_addstr(&out, "The program ran to its end.\n");
	if (bad->verdict != VERDICT_FAIL)
		tell_failure(&out, r, bad);
	for (i = 0; i < r->result.check_count; i++)
		if (r->result.checks[i].verdict == VERDICT_FAIL)
			tell_failure(&out, r, &r->result.checks[i]);
	return buf_take(&out, NULL);
}

static int check_failed(struct run *r, const struct check_result *bad)
{
	const char *advice =
		"The program ended without an error: the result is wrong, not the run. "
		"Check the method against the question (units, boundaries, filters, ties, "
		"rounding, the form that was asked for); do not print a value only to pass.";

	if (!strcmp(bad->kind, "tests"))
		advice = "Fix the program, not the tests: find out by hand what the first failing "
			 "line should give, and follow the program to where it differs.";
	else if (run_may_dispute(r))
		advice = "The program ended without an error. The requirement was guessed before "
			 "anything had run: if it does not fit the data and the program is right, "
			 "send the program back unchanged, and a judge decides.";
	return run_attempt_failed(r, (struct feedback){
		.failure = mem_printf("The program ran, but a check failed (%s, from the %s): %s",
				      bad->kind, check_source_name(bad->source),
				      bad->detail ? bad->detail : ""),
		.told = tell_failures(r, bad),
		.advice = advice,
		.with_output = true,
		.status = RUN_FAILED,
	});
}

static void conclude(struct run *r)
{
	cleanup_free char *reason = NULL;

	if (r->result.level >= r->settings->require) {
		run_finish(r, RUN_SUCCESS, EXIT_OK, NULL);
	} else if (r->provider_failure) {
		run_finish(r, RUN_PROVIDER_ERROR, EXIT_PROVIDER, r->provider_failure);
	} else {
		reason = mem_printf("level %s is below the required %s",
				    level_name(r->result.level), level_name(r->settings->require));
		run_finish(r, RUN_UNVERIFIED, EXIT_FAILED, reason);
	}
	r->state = STATE_ANSWER;
}

static int decide(struct run *r, struct error *err)
{
	const struct check_result *bad;

	if (more_checks(r, err) < 0)
		return -1;
	bad = first_failure(r);
	bad = bad ? bad : unmet_expectation(r);
	r->result.level = bad ? LEVEL_RAN : level_of(r);
	if (record_verdict(r, err) < 0)
		return -1;
	if (bad)
		return check_failed(r, bad);
	conclude(r);
	return 0;
}

bool run_may_dispute(const struct run *r)
{
	const struct check_result *c = r->result.checks, *end = c + r->result.check_count;
	bool failed = false;

	for (; c < end; c++) {
		if (c->verdict == VERDICT_FAIL && c->source != CHECK_PLANNER)
			return false;
		failed |= c->verdict == VERDICT_FAIL;
	}
	return failed && !r->disputed && has_judge(r);
}

int run_dispute(struct run *r, struct error *err)
{
	size_t i;

	for (i = 0; i < r->result.check_count; i++) {
		struct check_result *c = &r->result.checks[i];
		cleanup_free char *failed = c->verdict == VERDICT_FAIL ? c->detail : NULL;

		if (!failed)
			continue;
		c->verdict = VERDICT_SKIPPED;
		c->detail = mem_printf("%s The model stands by its program, so a judge decides.",
				       failed);
	}
	r->disputed = true;
	return decide(r, err);
}

int stage_verify(struct run *r, struct error *err)
{
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, "verify", r->attempt);
	run_checks(r);
	return decide(r, err);
}
