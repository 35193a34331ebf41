/* One run of tests with a solution, in the real sandbox, confirmed as for a user. */
#ifndef TEST_VERIFIER_RUN_H
#define TEST_VERIFIER_RUN_H

#include "tests/unit/test_verifier_sandbox.h"

#include "base/mem.h"
#include "verifier/compiled.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
	const char *name, *solution, *tests;
	enum verdict verdict;
	const char *says; /* in the detail; NULL: anything */
	bool stub;
};

/* A job with the time a loaded machine needs, but for the one that must run into it. */
static inline struct sandbox_job job_of(const char *lang, const struct run *run)
{
	struct sandbox_job job = { .language = language_find(lang),
				   .code = run->solution,
				   .code_len = strlen(run->solution) };

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = strstr(run->name, "endless") ? 2000 : 30000;
	return job;
}

static inline void run_alone(const char *lang, const struct run *run, enum tests_mode mode,
			     struct sandbox_result *ret, struct check_result *ret_check)
{
	struct sandbox_job job = job_of(lang, run);
	struct tests t = { .mode = mode };
	cleanup_compiled struct compiled code = { .bytes = NULL };
	struct error err = ERROR_INIT;

	if (tests_prepare(&t, job.language, run->tests, strlen(run->tests), &job, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	compiled_job(sandbox, &job, &code);
	if (sandbox_run(sandbox, &job, NULL, ret, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	tests_collect(&t, ret);
	tests_judge(&t, ret, CHECK_TESTS, ret_check);
	tests_release(&t);
}

static size_t all_halves, forked_halves; /* of the pairs that were run */

static inline void count_start(const struct sandbox_result *x)
{
	const char *start = sandbox_fact(&x->isolation, "start");

	all_halves++;
	forked_halves += start && !strcmp(start, "forked");
}

static inline void run_pair(const char *lang, const struct run *run, struct sandbox_result ret[2],
			    struct check_result *ret_check)
{
	struct tests t[2] = { { .mode = TESTS_PROGRAM }, { .mode = TESTS_JUDGE } };
	struct sandbox_job jobs[2] = { job_of(lang, run), job_of(lang, run) };
	struct compiled code[2];
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < 2; i++) {
		if (tests_prepare(&t[i], jobs[i].language, run->tests, strlen(run->tests), &jobs[i],
				  &err) < 0)
			fail_msg("%s: %s", run->name, err.message);
		compiled_job(sandbox, &jobs[i], &code[i]);
	}
	if (sandbox_run_pair(sandbox, jobs, NULL, ret, &err) < 0)
		fail_msg("%s: %s", run->name, err.message);
	for (size_t i = 0; i < 2; i++) {
		count_start(&ret[i]);
		tests_collect(&t[i], &ret[i]);
	}
	tests_judge_pair(&t[1], &ret[0], &ret[1], CHECK_TESTS, ret_check);
	for (size_t i = 0; i < 2; i++) {
		tests_release(&t[i]);
		compiled_release(&code[i]);
	}
}

/* As agent/stages/tests.c has it. The verdict; its sentence in *ret_said when that
 * is not NULL. Caller frees. */
static inline enum verdict run_verdict(const char *lang, const struct run *run, char **ret_said)
{
	struct sandbox_result x[2] = { { .exit_code = -1 }, { .exit_code = -1 } };
	struct check_result c = { .kind = NULL }, together = { .kind = NULL };

	if (run->stub) {
		run_alone(lang, run, TESTS_STUB, &x[0], &c);
	} else {
		run_pair(lang, run, x, &c);
		if (c.verdict == VERDICT_FAIL || c.verdict == VERDICT_SKIPPED) {
			sandbox_result_release(&x[0]);
			run_alone(lang, run, TESTS_TOGETHER, &x[0], &together);
			tests_weigh(&c, &together);
		}
	}
	enum verdict verdict = c.verdict;
	if (ret_said)
		*ret_said = mem_strdup(c.detail);
	/* The harness's files are its own business: no artifacts of the user's. */
	if (x[0].artifact_count && !strstr(run->name, "forge") && ret_said)
		fail_msg("%s: there is an artifact %s", run->name, x[0].artifacts[0].path);
	check_result_release(&c);
	sandbox_result_release(&x[0]);
	sandbox_result_release(&x[1]);
	return verdict;
}

static inline bool has_interpreter(const char *lang)
{
	struct sandbox_environment environment;
	struct error err = ERROR_INIT;

	return !sandbox_describe(sandbox, language_find(lang), &environment, &err) &&
	       environment.interpreter;
}

#endif
