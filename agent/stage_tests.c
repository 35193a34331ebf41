/*
 * Runs of tests with a program, each logged and within the budget. What passes
 * is confirmed apart from the program (verifier/tests.h).
 */
#include "agent/run.h"

#include "base/mem.h"
#include "verifier/tests.h"

#include <stdlib.h>
#include <string.h>

struct job {
	struct run *r;
	const char *tests;
};

static int run_job(void *self, struct tests *t, struct sandbox_result *ret, struct error *err)
{
	const struct job *job = self;
	struct run *r = job->r;
	struct failure f = { .type = NULL };
	int rc;

	rc = run_execute_code(r, r->code, r->code_len, job->tests, t, ret, err);
	if (rc)
		return rc;
	failure_find(r->language->name, r->language->file, ret, &f);
	rc = journal_execution(&r->journal, r->attempt, ret, &f, err);
	rc = rc ? rc : run_check_deadline(r, ret, err);
	failure_release(&f);
	if (rc)
		sandbox_result_release(ret);
	return rc;
}

int run_confirm_tests(struct run *r, const char *tests, struct tests *t, struct check_result *c,
		      struct error *err)
{
	struct job job = { r, tests };

	if (!tests_confirm(t, run_job, &job, c, err))
		return 0;
	if (err->kind != ERR_BUDGET)
		return -1;
	free(c->detail);
	c->verdict = VERDICT_SKIPPED;
	c->detail = mem_printf("the tests passed, but the budget left no room to confirm it: %s",
			       err->message);
	return 0;
}

/* The tests' verdict on the program, or on the same emptied of what it does. */
static int run_with_tests(struct run *r, const char *tests, struct tests *t,
			  struct check_result *ret, struct error *err)
{
	struct job job = { r, tests };
	struct sandbox_result x = { .exit_code = -1 };
	int rc;

	rc = run_job(&job, t, &x, err);
	if (rc)
		return rc;
	tests_judge(t, &x, CHECK_TESTS, ret);
	sandbox_result_release(&x);
	return 0;
}

/* Tests that pass whatever the program does say nothing about it, and neither
 * do those that never call it: they are run on a stub of it to know. */
static int try_stub(struct run *r, const char *tests, struct check_result *c, struct error *err)
{
	struct tests t = { .mode = TESTS_STUB };
	struct check_result empty;
	int rc;

	rc = run_with_tests(r, tests, &t, &empty, err);
	tests_release(&t);
	if (rc)
		return rc;
	if (empty.verdict == VERDICT_PASS) {
		free(c->detail);
		c->verdict = VERDICT_SKIPPED;
		c->detail = mem_strdup(
			"the tests pass on an emptied program, too, so they prove nothing");
	}
	check_result_release(&empty);
	return 0;
}

int run_written_tests(struct run *r, const char *tests, struct error *err)
{
	struct tests t = { .mode = TESTS_TOGETHER };
	struct check_result c = { .kind = NULL };
	int rc;

	rc = run_with_tests(r, tests, &t, &c, err);
	if (!rc && c.verdict == VERDICT_PASS)
		rc = try_stub(r, tests, &c, err);
	if (!rc && c.verdict == VERDICT_PASS)
		rc = run_confirm_tests(r, tests, &t, &c, err);
	tests_release(&t);
	if (rc)
		check_result_release(&c);
	else
		run_add_check(r, &c);
	return rc;
}
