/*
 * Tests of a program, each run logged and within the budget: the program and its judge as a pair,
 * and together only when that was no pass (verifier/tests.h). None may run beside the log or the
 * budget.
 */
#include "agent/stages/tests.h"

#include "agent/attempt.h"
#include "agent/execution.h"
#include "agent/run.h"
#include "agent/stages/cell.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One run of the program with the tests in its interpreter: their verdict. */
static int run_one(struct run *r, const char *tests, enum tests_mode mode, enum check_source source,
		   struct execution *ret, struct check_result *ret_check, struct error *err)
{
	*ret = (struct execution){ .tests = tests, .harness = { .mode = mode } };
	ret->code = run_joined(r, &ret->len);
	if (execution_run(r, ret, 1, err) < 0 ||
	    execution_check_stopped(r, &ret->result, ret->cut, err) < 0) {
		execution_release(ret);
		return -1;
	}
	tests_judge(&ret->harness, &ret->result, source, ret_check);
	return 0;
}

static int run_pair(struct run *r, const char *tests, enum check_source source,
		    struct execution x[2], struct check_result *ret_check, struct error *err)
{
	static const enum tests_mode modes[2] = { TESTS_PROGRAM, TESTS_JUDGE };
	size_t len;
	const char *code = run_joined(r, &len);

	for (size_t i = 0; i < 2; i++)
		x[i] = (struct execution){
			.code = code, .len = len, .tests = tests, .harness = { .mode = modes[i] }
		};
	if (execution_run(r, x, 2, err) < 0)
		return -1;
	for (size_t i = 0; i < 2; i++)
		if (execution_check_deadline(r, &x[i].result, x[i].cut, err) < 0)
			return -1;
	if (x[1].result.outcome == SANDBOX_CANCELLED)
		return error_set(err, ERR_CANCELLED, "interrupted while the tests ran");
	tests_judge_pair(&x[1].harness, &x[0].result, &x[1].result, source, ret_check);
	return 0;
}

/* Whether a run together has something to say: a program that could not even be
 * loaded has said it, and tests without an assertion have none there either.
 * One that had to be stopped after its last answer has not. */
static bool may_learn_more(const struct check_result *c, const struct sandbox_result *program)
{
	return (c->verdict == VERDICT_FAIL || c->verdict == VERDICT_SKIPPED) &&
	       (program->outcome == SANDBOX_CANCELLED ||
		(program->outcome == SANDBOX_EXIT && program->exit_code == 0));
}

static int learn_more(struct run *r, const char *tests, enum check_source source,
		      struct execution *alone, struct check_result *c, struct error *err)
{
	struct check_result together = { .kind = NULL };
	struct execution x;

	if (run_one(r, tests, TESTS_TOGETHER, source, &x, &together, err) < 0)
		return err->kind == ERR_BUDGET && alone->result.outcome == SANDBOX_EXIT ? 0 : -1;
	tests_weigh(c, &together);
	execution_release(alone);
	*alone = x;
	return 0;
}

int run_tests(struct run *r, const char *tests, enum check_source source, struct execution *ret,
	      struct check_result *ret_check, struct error *err)
{
	struct execution x[2];
	struct check_result c = { .kind = NULL };
	int rc = run_pair(r, tests, source, x, &c, err);

	if (!rc && may_learn_more(&c, &x[0].result))
		rc = learn_more(r, tests, source, &x[0], &c, err);
	execution_release(&x[1]);
	if (rc) {
		execution_release(&x[0]);
		check_result_release(&c);
		return rc;
	}
	*ret = x[0];
	*ret_check = c;
	return 0;
}

/* Tests that pass whatever the program does say nothing about it, and neither
 * do those that never call it: they are run on a stub of it to know. */
static int try_stub(struct run *r, const char *tests, struct check_result *c, struct error *err)
{
	struct execution x;
	struct check_result empty;

	if (run_one(r, tests, TESTS_STUB, CHECK_TESTS, &x, &empty, err) < 0)
		return -1;
	if (empty.verdict == VERDICT_PASS) {
		free(c->detail);
		c->verdict = VERDICT_SKIPPED;
		c->detail = mem_strdup(
			"the tests pass on an emptied program, too, so they prove nothing");
	}
	check_result_release(&empty);
	execution_release(&x);
	return 0;
}

int run_written_tests(struct run *r, const char *tests, struct error *err)
{
	struct check_result c = { .kind = NULL };
	struct execution x;

	if (run_tests(r, tests, CHECK_TESTS, &x, &c, err) < 0)
		return -1;
	execution_release(&x);
	if (c.verdict == VERDICT_PASS && try_stub(r, tests, &c, err) < 0) {
		check_result_release(&c);
		return -1;
	}
	run_add_check(r, &c);
	return 0;
}
