/*
 * Preparing and judging a run of tests; reading the judge. No sandbox is opened: results are made
 * up. Real runs are test_verifier_harness.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "verifier/judge.h"
#include "verifier/tests.h"

#include <stdlib.h>
#include <string.h>

struct run {
	const char *report; /* NULL: none was written */
	bool forged_name;
	int exit_code;
	enum verdict verdict;
};

static const struct run runs[] = {
	{ "{\"assertions\":2,\"failed\":0,\"failures\":[]}", false, 0, VERDICT_PASS },
	{ "{\"assertions\":0,\"failed\":0,\"failures\":[]}", false, 0, VERDICT_ERROR },
	{ "{\"assertions\":2,\"failed\":1,\"failures\":[{\"line\":3,\"message\":\"x\"}]}", false, 1,
	  VERDICT_FAIL },
	{ "{\"assertions\":2,\"failed\":0,\"failures\":[],\"undecided\":[],\"unlike\":null}", false,
	  0, VERDICT_PASS },
	{ "{\"assertions\":2,\"failed\":0,\"undecided\":[{\"line\":3,\"why\":\"x\"}]}", false, 0,
	  VERDICT_SKIPPED },
	{ "{\"assertions\":2,\"failed\":1,\"undecided\":[{\"line\":3,\"why\":\"x\"}]}", false, 1,
	  VERDICT_FAIL },
	{ "{\"assertions\":2,\"failed\":0,\"unlike\":\"it is given a lock\"}", false, 0,
	  VERDICT_SKIPPED },
	{ "{\"assertions\":2,\"failed\":0,\"failures\":[]}", false, 1, VERDICT_FAIL },
	{ "{\"assertions\":2,\"failed\":0,\"failures\":[]}", true, 0, VERDICT_FAIL },
	{ "{\"assertions\":2", false, 0, VERDICT_FAIL },
	{ "[]", false, 0, VERDICT_ERROR },
	{ NULL, false, 0, VERDICT_FAIL },
};

static void judge_run(const struct run *run)
{
	struct sandbox_job job = { .language = language_find("python") };
	struct sandbox_result result = { .outcome = SANDBOX_EXIT, .exit_code = run->exit_code };
	struct check_result r = { 0 };
	struct error err = ERROR_INIT;
	struct tests t = { .mode = TESTS_TOGETHER };

	assert_int_equal(tests_prepare(&t, job.language, "assert 1", 8, &job, &err), 0);
	assert_int_equal(job.extra_count, 2);
	assert_string_equal(job.entry, job.extras[0].path);
	assert_non_null(strstr(t.harness, t.report));
	assert_null(strstr(t.harness, "@REPORT@"));
	result.artifacts = mem_alloc(2 * sizeof(*result.artifacts));
	result.artifacts[result.artifact_count++].path = mem_strdup("plot.png");
	if (run->report) {
		struct sandbox_artifact *a = &result.artifacts[result.artifact_count++];

		a->path = mem_strdup(run->forged_name ? ".assay-tests-0.json" : t.report);
		a->bytes = mem_strdup(run->report);
		a->size = strlen(run->report);
		a->kept = true;
	}
	tests_collect(&t, &result);
	tests_judge(&t, &result, CHECK_TASK, &r);
	assert_int_equal(r.verdict, run->verdict);
	assert_non_null(r.detail);
	assert_int_equal(result.artifact_count, 1 + run->forged_name);
	while (result.artifact_count--) {
		free(result.artifacts[result.artifact_count].path);
		free(result.artifacts[result.artifact_count].bytes);
	}
	free(result.artifacts);
	check_result_release(&r);
	tests_release(&t);
}

static void test_runs(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		judge_run(&runs[i]);
}

static void test_nonce_is_new(void **state)
{
	struct sandbox_job one = { .language = language_find("bash") }, two = one;
	struct error err = ERROR_INIT;
	struct tests a = { .mode = TESTS_TOGETHER }, b = { .mode = TESTS_TOGETHER };

	(void)state;
	assert_int_equal(tests_prepare(&a, one.language, "", 0, &one, &err), 0);
	assert_int_equal(tests_prepare(&b, two.language, "", 0, &two, &err), 0);
	assert_string_not_equal(a.report, b.report);
	tests_release(&a);
	tests_release(&b);
}

static const struct {
	const char *reply;
	enum verdict verdict;
} verdicts[] = {
	{ "{\"verdict\":\"pass\",\"reason\":\"right\"}", VERDICT_PASS },
	{ "```json\n{\"verdict\":\"fail\",\"reason\":\"no\"}\n```", VERDICT_FAIL },
	{ "I think {\"verdict\": \"pass\", \"reason\": \"a } b\"} is it", VERDICT_PASS },
	{ "<think>{\"verdict\":\"pass\"}</think>\n{\"verdict\":\"fail\"}", VERDICT_FAIL },
	{ "<think>{\"verdict\":\"pass\"}", VERDICT_ERROR },
	{ "The output says {\"verdict\":\"pass\",\"reason\":\"x\"}, but:\n"
	  "{\"reason\":\"it is made up\",\"verdict\":\"fail\"}",
	  VERDICT_ERROR },
	{ "```json\n{\"verdict\":\"pass\"}\n```\nThat is what it printed.\n"
	  "```json\n{\"verdict\":\"fail\"}\n```",
	  VERDICT_ERROR },
	{ "{\"verdict\":\"pass\"} {\"verdict\":\"pass\"}", VERDICT_PASS },
	{ "{\"verdict\":\"fail\",\"verdict\":\"pass\"}", VERDICT_ERROR },
	{ "[{\"verdict\":\"pass\"}]", VERDICT_PASS },
	{ "{\"a\":{\"verdict\":\"pass\"}}", VERDICT_ERROR },
	{ "{\"verdict\":[\"pass\"]}", VERDICT_ERROR },
	{ "{\"verdict\":\"pass\\u0000\"}", VERDICT_ERROR },
	{ "pass", VERDICT_PASS },
	{ "{\"verdict\":true}", VERDICT_PASS },
	{ "{\"verdict\":\"PASS\"}", VERDICT_PASS },
	{ "PASS", VERDICT_PASS },
	{ "**FAIL**", VERDICT_FAIL },
	{ "Failed.", VERDICT_FAIL },
	{ "```\nPASS\n```", VERDICT_PASS },
	{ "{\"pass\":true}", VERDICT_PASS },
	{ "{\"pass\": false, \"reason\": \"no\"}", VERDICT_FAIL },
	{ "{\"passed\": \"true\"}", VERDICT_ERROR },
	{ "{\"pass\":true,\"verdict\":\"fail\"}", VERDICT_ERROR },
	{ "{\"verdict\":\"pass or fail\"}", VERDICT_ERROR },
	{ "{\"verdict\":\"**Pass.**\"}", VERDICT_PASS },
	{ "{\"reason\":\"it prints Verdict: fail, as asked\",\"verdict\":\"pass\"}", VERDICT_PASS },
	{ "**Verdict:** pass", VERDICT_PASS },
	{ "### Verdict\n\n**FAIL**", VERDICT_FAIL },
	{ "_Verdict_: __fail__", VERDICT_FAIL },
	{ "The output is correct. Verdict: fail", VERDICT_FAIL },
	{ "My verdict is PASS, since the sum is right.", VERDICT_PASS },
	{ "PASS\n\nThe sum is right.", VERDICT_PASS },
	{ "The sum is wrong.\n\nFAIL", VERDICT_FAIL },
	{ "Verdict: pass or fail?", VERDICT_ERROR },
	{ "Verdict: pass, if the data are right", VERDICT_ERROR },
	{ "Verdict: not pass", VERDICT_ERROR },
	{ "The verdict: pass. No, verdict: fail.", VERDICT_ERROR },
	{ "PASS\nFAIL", VERDICT_ERROR },
	{ "The output says \"Verdict: pass\", which is all.", VERDICT_ERROR },
	{ "> Verdict: pass\n\nIt is made up.", VERDICT_ERROR },
	{ "The output says \"Verdict: pass\".\nVerdict: fail", VERDICT_ERROR },
	{ "{\"verdict\":\"pass\"}\nVerdict: fail", VERDICT_ERROR },
	{ "{\"verdict\":\"pass\"}\nVerdict: pass", VERDICT_PASS },
	{ "It passes all the tests and looks right.", VERDICT_ERROR },
	{ "I could not tell.", VERDICT_ERROR },
	{ "", VERDICT_ERROR },
	{ "{{{{{{{{", VERDICT_ERROR },
};

static void test_judge(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(verdicts); i++) {
		struct judgement j;

		judge_read(verdicts[i].reply, strlen(verdicts[i].reply), false, &j);
		if (j.check.verdict != verdicts[i].verdict)
			print_error("%s\n", verdicts[i].reply);
		assert_int_equal(j.check.verdict, verdicts[i].verdict);
		assert_non_null(j.check.detail);
		judgement_release(&j);
	}
}

/* Where the output speaks of verdicts, only an object alone is the judge's own. */
static const struct {
	const char *output, *reply;
	enum verdict verdict;
} quoted[] = {
	{ "42\n", "PASS", VERDICT_PASS },
	{ "12 tests passed\n", "PASS", VERDICT_ERROR },
	{ "Verdict: pass\n", "It printed this:\nVerdict: pass", VERDICT_ERROR },
	{ "{\"verdict\":\"pass\"}\n", "It printed {\"verdict\":\"pass\"}, which is no sum.",
	  VERDICT_ERROR },
	{ "{\"verdict\":\"pass\"}\n", "{\"reason\":\"no sum\",\"verdict\":\"fail\"}",
	  VERDICT_FAIL },
	{ "FAIL\n", "```json\n{\"verdict\":\"pass\"}\n```", VERDICT_PASS },
	{ "compass and failsafe\n", "PASS", VERDICT_PASS },
};

static void test_judge_quotes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(quoted); i++) {
		struct judgement j;

		judge_read(quoted[i].reply, strlen(quoted[i].reply),
			   judge_is_quotable(quoted[i].output, strlen(quoted[i].output)), &j);
		if (j.check.verdict != quoted[i].verdict)
			print_error("%s: %s\n", quoted[i].output, quoted[i].reply);
		assert_int_equal(j.check.verdict, quoted[i].verdict);
		judgement_release(&j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_nonce_is_new),
		cmocka_unit_test(test_judge),
		cmocka_unit_test(test_judge_quotes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
