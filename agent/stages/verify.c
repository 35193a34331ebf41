/*
 * What the output is worth. Checks first, in C; then tests and a second
 * program when asked for; the judge last, and only when nothing from outside
 * the model has already decided.
 */
#include "agent/stages/verify.h"

#include "agent/attempt.h"
#include "agent/execution.h"
#include "agent/run.h"
#include "agent/stages/again.h"
#include "agent/stages/answer.h"
#include "agent/stages/call.h"
#include "agent/stages/cell.h"
#include "agent/stages/judge.h"
#include "agent/stages/screen.h"
#include "agent/stages/tests.h"
#include "base/mem.h"
#include "verifier/reply/extract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct verify_memory {
	size_t checks_at;	    /* where the checks' results begin among the result's */
	struct check_weight weight; /* of the plan's checks that passed */
};

#define TOLD_MAX ((size_t)256 << 10)

static void add_skipped(struct run *r, const char *kind, enum check_source source,
			enum verdict verdict, const char *detail)
{
	struct check_result c = { kind, source, verdict, mem_strdup(detail) };

	run_add_check(r, &c);
}

/* A check that the model proposed for its own program may fail it, but passes
 * only when it could have failed. */
static void discount(const struct check *check, struct check_result *c, struct regex_effort *effort)
{
	const char *passed_by = NULL;

	if (c->source == CHECK_PLANNER && c->verdict == VERDICT_PASS)
		passed_by = check_passed_by(check, effort);
	if (!passed_by)
		return;
	char *held = c->detail;
	c->verdict = VERDICT_SKIPPED;
	c->detail = mem_printf("Not counted: %s would pass it, too. %s", passed_by, held);
	free(held);
}

/* Whether an earlier cell of the context could have made what a check sees. */
struct doubt {
	char *forged; /* why it could; NULL: none */
	bool tried;   /* to run the program without it */
	struct again again;
};

static void doubt_release(struct doubt *d)
{
	free(d->forged);
	free(d->again.without);
}
#define cleanup_doubt __attribute__((cleanup(doubt_release)))

/* What one could have made is no evidence, unless the same is made without it. */
static int distrust(struct run *r, struct check_result *c, struct doubt *d, struct error *err)
{
	char *held = c->detail;

	if (!d->forged || c->verdict != VERDICT_PASS)
		return 0;
	if (!d->tried && run_again(r, &d->again, err) < 0)
		return -1;
	d->tried = true;
	if (d->again.same && !check_sees_time(c->kind)) {
		c->detail = mem_printf("%s Run again without %s (%s), the program did the same.",
				       held ? held : "", d->again.without, d->forged);
	} else {
		c->verdict = VERDICT_SKIPPED;
		c->detail = mem_printf("Not counted: %s, so an earlier program could have made "
				       "this output%s%s%s. %s",
				       d->forged, d->again.without ? "; run again without " : "",
				       d->again.without ? d->again.without : "",
				       !d->again.without ? "" :
				       d->again.same	 ? ", it may take another time" :
							   ", the program did not do the same",
				       held ? held : "");
	}
	free(held);
	return 0;
}

/* The judge has said that it was a wrong guess. */
static bool is_withdrawn(const struct run *r, const struct check *check)
{
	const struct json *kind = json_first(run_withdrawn(r));

	for (; kind && check->source == CHECK_PLANNER; kind = json_next(kind))
		if (json_string(kind) && !strcmp(json_string(kind), check->kind))
			return true;
	return false;
}

/* What a check says after the user, or the deadline, has ended it is no verdict. */
static int stopped(const struct stop *stop, const struct run *r, struct error *err)
{
	if (stop_check(stop, err) == 0)
		return 0;
	if (err->kind == ERR_DEADLINE)
		return error_set(err, ERR_DEADLINE,
				 "the deadline of %" PRId64 " ms passed while the output was "
				 "checked",
				 r->budget.limits.deadline_ms);
	return error_set(err, err->kind, "interrupted while the output was checked");
}

static int run_checks(struct run *r, struct error *err)
{
	struct stop stop;
	struct regex_effort effort = { &stop, CHECK_PATTERNS_US };
	cleanup_doubt struct doubt doubt = { r->checks.count ? run_forged(r) : NULL };

	if (execution_stop(r, &stop, err) < 0)
		return -1;
	r->verify->checks_at = r->result.check_count;
	for (size_t i = 0; i < r->checks.count; i++) {
		if (is_withdrawn(r, &r->checks.checks[i])) {
			add_skipped(r, r->checks.checks[i].kind, CHECK_PLANNER, VERDICT_SKIPPED,
				    "The judge took this check of the plan back.");
			continue;
		}
		struct check_result c;
		check_evaluate(&r->checks.checks[i], &r->execution, &effort, &c);
		discount(&r->checks.checks[i], &c, &effort);
		if (distrust(r, &c, &doubt, err) < 0 || stopped(&stop, r, err) < 0) {
			check_result_release(&c);
			return -1;
		}
		run_add_check(r, &c);
	}
	check_weigh(&r->checks, &r->execution, &effort, &r->verify->weight);
	return stopped(&stop, r, err);
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

	*ret_code = NULL;
	struct prompt prompt;
	if (run_prompt(r, role, NULL, &prompt, err) < 0)
		return -1;
	int rc = run_call(r, role, &prompt, NULL, &reply, err);
	prompt_release(&prompt);
	if (rc)
		return run_could_not_ask(r, role_name(role), source, err);
	if (extract_code(reply.text, reply.text_len, &options, &x, err) < 0)
		return -1;
	const struct code_block *tests = want_tests ? extraction_tests(&x) : NULL;
	if (!tests && !x.program.code) {
		add_skipped(r, role_name(role), source, VERDICT_ERROR, "the reply held no code");
		return 0;
	}
	*ret_len = tests ? tests->code_len : x.program.code_len;
	*ret_code = mem_strndup(tests ? tests->code : x.program.code, *ret_len);
	bool allowed = false;
	if (run_screen_code(r, role_name(role), r->language, ret_code, ret_len, &allowed, &reason,
			    err) < 0) {
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
	cleanup_execution struct execution x = { .code = code, .len = len };

	if (execution_run(r, &x, 1, err) < 0 ||
	    execution_check_stopped(r, &x.result, x.cut, err) < 0)
		return -1;
	if (x.result.outcome != SANDBOX_EXIT || x.result.exit_code != 0) {
		add_skipped(r, role_name(ROLE_CROSS_CHECK), CHECK_CROSS_CHECK, VERDICT_ERROR,
			    "the second program failed, so nothing was compared");
		return 0;
	}
	struct check_result c;
	check_outputs_agree(&r->execution, &x.result, &c);
	run_add_check(r, &c);
	return 0;
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

	if (!first->len || strspn(first->bytes, " \t\r\n") == first->len) {
		add_skipped(r, role_name(ROLE_CROSS_CHECK), CHECK_CROSS_CHECK, VERDICT_SKIPPED,
			    "the program printed nothing, so there is nothing to compare");
		return 0;
	}
	size_t len;
	if (ask_for_code(r, ROLE_CROSS_CHECK, CHECK_CROSS_CHECK, false, &code, &len, err) < 0)
		return -1;
	if (!code)
		return 0;
	if (same_program(code, len, r->code, r->code_len)) {
		add_skipped(r, role_name(ROLE_CROSS_CHECK), CHECK_CROSS_CHECK, VERDICT_SKIPPED,
			    "the second program is the first one, so it proves nothing");
		return 0;
	}
	return compare_second(r, code, len, err);
}

/* --- the verdict --- */

static const struct check_result *first_failure(const struct run *r)
{
	for (size_t i = 0; i < r->result.check_count; i++)
		if (r->result.checks[i].verdict == VERDICT_FAIL)
			return &r->result.checks[i];
	return NULL;
}

/* Of those that no judge could take back. */
static const struct check_result *hard_failure(const struct run *r)
{
	for (size_t i = 0; i < r->result.check_count; i++)
		if (r->result.checks[i].verdict == VERDICT_FAIL &&
		    (r->result.checks[i].source != CHECK_PLANNER || run_withdrawn(r)))
			return &r->result.checks[i];
	return NULL;
}

/* What one result proves. Where one guess of the plan was wrong, the others are worth
 * no more than that it ran. */
static enum level level_by(const struct run *r, const struct check_result *c)
{
	if (c->verdict != VERDICT_PASS)
		return LEVEL_RAN;
	if (c->source == CHECK_PLANNER && (run_withdrawn(r) || !r->verify->weight.carries))
		return LEVEL_RAN;
	return check_source_level(c->source);
}

static enum level level_of(const struct run *r)
{
	enum level level = LEVEL_RAN;

	for (size_t i = 0; i < r->result.check_count; i++) {
		enum level proven = level_by(r, &r->result.checks[i]);
		level = proven > level ? proven : level;
	}
	return level;
}

/* What carries this level, a word for each; NULL for none. Caller frees. */
static char *carriers(const struct run *r, enum level level)
{
	struct buf out = BUF_INIT(TOLD_MAX);
	bool planner = false;

	for (size_t i = 0; level > LEVEL_RAN && i < r->result.check_count; i++) {
		const struct check_result *c = &r->result.checks[i];

		if (level_by(r, c) != level)
			continue;
		planner |= c->source == CHECK_PLANNER;
		if (c->source == CHECK_JUDGE)
			buf_addstr(&out, out.len ? ", the judge" : "the judge");
		else if (c->source != CHECK_PLANNER)
			buf_addf(&out, "%s%s (%s)", out.len ? ", " : "", c->kind,
				 check_source_name(c->source));
	}
	if (planner)
		buf_addf(&out,
			 "%s%s (planner: %zu of %zu outputs like this, but wrong, would "
			 "have failed)",
			 out.len ? ", " : "", r->verify->weight.by, r->verify->weight.rejected,
			 r->verify->weight.wrong);
	return out.len ? buf_take(&out, NULL) : NULL;
}

/* An outside expectation that could not be evaluated was not met. */
static const struct check_result *unmet_expectation(const struct run *r)
{
	for (size_t i = 0; i < r->result.check_count; i++) {
		const struct check_result *c = &r->result.checks[i];

		if (c->verdict == VERDICT_ERROR && check_source_level(c->source) == LEVEL_EXPECTED)
			return c;
	}
	return NULL;
}

static int more_checks(struct run *r, struct error *err)
{
	const struct policy *s = r->policy;

	if (s->tests && !r->task->tests && !hard_failure(r) && write_tests(r, err) < 0)
		return -1;
	if (s->cross_check && !hard_failure(r) && cross_check(r, err) < 0)
		return -1;
	if (!run_has_judge(r) || hard_failure(r) || unmet_expectation(r) ||
	    level_of(r) >= LEVEL_EXPECTED)
		return 0;
	if (s->mode == MODE_CAREFUL && run_write_answer(r, err) < 0)
		return -1;
	return run_judge(r, err);
}

static int record_verdict(struct run *r, struct error *err)
{
	cleanup_json struct json *data = json_object();
	struct json *checks = json_array();

	for (size_t i = 0; i < r->result.check_count; i++)
		json_append(checks, check_result_json(&r->result.checks[i]));
	json_set(data, "checks", checks);
	json_set_string(data, "level", level_name(r->result.level));
	json_set_string(data, "carried_by", r->result.carried_by);
	return journal_queue(&r->journal, stage_name(STAGE_VERIFY), r->attempt, "done", data, NULL,
			     0, err);
}

/* Where the output misses an expectation, without the value expected. */
static void say_miss(struct buf *out, const struct run *r, const struct check_result *bad)
{
	size_t at = (size_t)(bad - r->result.checks);

	if (at >= r->verify->checks_at && at - r->verify->checks_at < r->checks.count)
		check_hint(out, &r->checks.checks[at - r->verify->checks_at], &r->execution);
}

/* What the grader expects is for the grader: a model that is shown the answer
 * would copy it, and level `expected` would say nothing. */
static void say_failure(struct buf *out, const struct run *r, const struct check_result *bad)
{
	const char *source = check_source_name(bad->source);

	if (check_source_level(bad->source) == LEVEL_EXPECTED && check_holds_answer(bad->kind)) {
		buf_addf(out,
			 "The output is not what was expected (%s, from the %s; the expected value "
			 "is not shown, so that it is computed and not copied).",
			 bad->kind, source);
		say_miss(out, r, bad);
	} else {
		buf_addf(out, "A check failed (%s, from the %s): %s", bad->kind, source,
			 bad->detail ? bad->detail : "");
	}
	buf_addch(out, '\n');
}

/* Everything that speaks against the program: mending one fault at a time
 * would cost an attempt each. */
static char *say_failures(const struct run *r, const struct check_result *bad)
{
	struct buf out = BUF_INIT(TOLD_MAX);

	buf_addstr(&out, "The program ran to its end.\n");
	if (bad->verdict != VERDICT_FAIL)
		say_failure(&out, r, bad);
	for (size_t i = 0; i < r->result.check_count; i++)
		if (r->result.checks[i].verdict == VERDICT_FAIL)
			say_failure(&out, r, &r->result.checks[i]);
	return buf_take(&out, NULL);
}

static enum step check_failed(struct run *r, const struct check_result *bad)
{
	const char *advice =
		"The program ended without an error: the result is wrong, not the run. "
		"Check the method against the question (units, boundaries, filters, ties, "
		"rounding, the form that was asked for); do not print a value only to pass.";

	if (!strcmp(bad->kind, "tests"))
		advice = "Fix the program, not the tests: find out by hand what the first failing "
			 "line should give, and follow the program to where it differs.";
	return run_attempt_failed(
		r, (struct feedback){
			   .failure = mem_printf(
				   "The program ran, but a check failed (%s, from the %s): %s",
				   bad->kind, check_source_name(bad->source),
				   bad->detail ? bad->detail : ""),
			   .told = say_failures(r, bad),
			   .advice = advice,
			   .with_output = true,
			   .status = RUN_FAILED,
		   });
}

/* The level is that of the words the person reads: what lies beyond the output is
 * worth a verdict, not a check. */
static void word_answer(struct run *r)
{
	if (r->draft && r->result.level > LEVEL_JUDGED)
		r->result.level = LEVEL_JUDGED;
	r->result.answer = r->draft ? TAKE_PTR(r->draft) : mem_strdup(r->execution.out.bytes);
}

static enum step conclude(struct run *r)
{
	if (r->result.level >= r->policy->require)
		return run_finish(r, RUN_SUCCESS, NULL);
	if (run_not_asked(r)->kind != ERR_NONE)
		return run_finish(r, run_status_of_error(run_not_asked(r)->kind),
				  run_not_asked(r)->message);
	cleanup_free char *reason =
		mem_printf("level %s is below the required %s", level_name(r->result.level),
			   level_name(r->policy->require));
	return run_finish(r, RUN_UNVERIFIED, reason);
}

static int decide(struct run *r, struct error *err)
{
	if (more_checks(r, err) < 0)
		return -1;
	const struct check_result *bad = first_failure(r);
	bad = bad ? bad : unmet_expectation(r);
	r->result.level = bad ? LEVEL_RAN : level_of(r);
	if (!bad)
		word_answer(r);
	free(r->result.carried_by);
	r->result.carried_by = bad ? NULL : carriers(r, r->result.level);
	if (record_verdict(r, err) < 0)
		return -1;
	return bad ? check_failed(r, bad) : conclude(r);
}

int stage_verify(struct run *r, struct error *err)
{
	if (r->loop->progress.stage)
		r->loop->progress.stage(r->loop->progress.self, stage_name(STAGE_VERIFY),
					r->attempt);
	return run_checks(r, err) < 0 ? -1 : decide(r, err);
}

void run_verify_begin(struct run *r)
{
	r->verify = mem_alloc(sizeof(*r->verify));
}

void run_verify_release(struct run *r)
{
	free(r->verify);
}
