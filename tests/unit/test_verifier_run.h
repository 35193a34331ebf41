/* One run of tests with a solution, in the real sandbox, confirmed as for a user. */
#ifndef TEST_VERIFIER_RUN_H
#define TEST_VERIFIER_RUN_H

#include "tests/unit/test_verifier_sandbox.h"

#include "base/mem.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	const char *name, *solution, *tests;
	enum verdict verdict;
	const char *says;	/* in the detail; NULL: anything */
	bool stub;
};

struct job {
	const struct run *run;
	const struct language *language;
};

static int run_job(void *self, struct tests *t, struct sandbox_result *ret, struct error *err)
{
	const struct job *j = self;
	struct sandbox_job job = { .language = j->language, .code = j->run->solution,
				   .code_len = strlen(j->run->solution) };
	struct sandbox_watch watch = { .cancel_fd = -1 };

	sandbox_limits_default(&job.limits);
	/* Generous on a loaded machine, but for the one that must run into it. */
	job.limits.wall_ms = strstr(j->run->name, "endless") ? 2000 : 30000;
	if (tests_prepare(t, j->language, j->run->tests, strlen(j->run->tests), &job, err) < 0 ||
	    sandbox_run(sandbox, &job, &watch, ret, err) < 0)
		return -1;
	tests_collect(t, ret);
	return 0;
}

/* The verdict; its sentence in *ret_said when that is not NULL. Caller frees. */
static enum verdict run_verdict(const char *lang, const struct run *run, char **ret_said)
{
	struct job job = { run, language_find(lang) };
	cleanup_sandbox_result struct sandbox_result x = { .exit_code = -1 };
	struct tests harness = { .mode = run->stub ? TESTS_STUB : TESTS_TOGETHER };
	struct check_result c = { .kind = NULL };
	struct error err = ERROR_INIT;
	enum verdict verdict;

	if (run_job(&job, &harness, &x, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	tests_judge(&harness, &x, CHECK_TESTS, &c);
	if (!run->stub && tests_confirm(&harness, run_job, &job, &c, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	verdict = c.verdict;
	if (ret_said)
		*ret_said = mem_strdup(c.detail);
	/* The harness's files are its own business: no artifacts of the user's. */
	if (x.artifact_count && !strstr(run->name, "forge") && ret_said)
		fail_msg("%s: there is an artifact %s", run->name, x.artifacts[0].path);
	check_result_release(&c);
	tests_release(&harness);
	return verdict;
}

static bool has_javascript(void)
{
	struct sandbox_environment environment;
	struct error err = ERROR_INIT;

	return !sandbox_describe(sandbox, language_find("javascript"), &environment, &err) &&
	       environment.interpreter;
}

#endif
