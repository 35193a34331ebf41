/* Walks tests/cases/{extract,check,failure}; the format is in
 * tests/cases/README. */
#include "tests/unit/test_cases.h"
#include "tests/unit/test_verifier_sandbox.h"

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "verifier/check/check.h"
#include "verifier/reply/extract.h"
#include "verifier/failure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool run_extract(const struct one_case *c)
{
	struct extract_options options = { get(c, "want"), number(c, "truncated", 0) != 0 };
	const char *reply = get(c, "reply");
	struct extraction x = { 0 };
	struct error err = ERROR_INIT;

	assert_int_equal(extract_code(reply, strlen(reply), &options, &x, &err), 0);
	const struct code_block *chosen = extraction_chosen(&x);
	cleanup_json struct json *record = extraction_json(&x);
	cleanup_free char *told = json_print(record);
	bool ok = same(c, "status", extract_status_name(x.status)) &&
		  same(c, "code", x.program.code) && same(c, "lang", x.program.lang) &&
		  same(c, "convention", x.convention) && same_number(c, "blocks", (long)x.count) &&
		  same(c, "info", chosen ? chosen->info : NULL) &&
		  same(c, "fence", chosen ? chosen->fence : NULL) &&
		  (!get(c, "why") || strstr(told, get(c, "why")));
	if (!ok)
		print_error("%s\n", told);
	extraction_release(&x);
	return ok;
}

/* Python, in the sandbox: what it prints and writes to /out is what is checked. */
static void run_program(const struct one_case *c, struct sandbox_result *ret)
{
	const char *code = get(c, "program");
	struct sandbox_job job = { .language = language_find("python"),
				   .code = code,
				   .code_len = strlen(code) };
	struct sandbox_watch watch = { .cancel_fd = -1 };
	struct error err = ERROR_INIT;

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = 30000; /* generous: the machine may be busy */
	if (sandbox_run(sandbox, &job, &watch, ret, &err) < 0)
		fail_msg("%s: %s", c->name, err.message);
	if (ret->outcome != SANDBOX_EXIT || ret->exit_code)
		fail_msg("%s: %s %s %.*s", c->name, sandbox_outcome_name(ret->outcome), ret->detail,
			 (int)ret->err.len, ret->err.bytes);
}

static bool run_check(const struct one_case *c)
{
	const char *output = get(c, "output");
	cleanup_free char *bytes = mem_strdup(output ? output : "");
	struct sandbox_result result = { .outcome = SANDBOX_EXIT };
	struct check_list list = { 0 };
	struct check_result r = { 0 };
	struct error err = ERROR_INIT;
	int rc;

	if (get(c, "program")) {
		run_program(c, &result);
	} else {
		result.out = (struct sandbox_stream){ TAKE_PTR(bytes), strlen(output ? output : ""),
						      strlen(output ? output : ""), false };
		result.metrics.wall_ms = (double)number(c, "wall_ms", 1);
	}
	if (get(c, "expect")) {
		cleanup_json struct json *expect = json_parse(
			get(c, "expect"), strlen(get(c, "expect")), JSON_BIG_AS_STRING, &err);
		rc = check_add_expect(&list, expect, CHECK_TASK, &err);
	} else {
		rc = check_add_text(&list, get(c, "check"), CHECK_USER, &err);
	}
	if (rc)
		print_error("%s: %s\n", c->name, err.message);
	assert_int_equal(rc, 0);
	check_evaluate(&list.checks[0], &result, NULL, &r);
	bool ok = same(c, "verdict", verdict_name(r.verdict)) && says(c, r.detail);
	check_result_release(&r);
	check_list_release(&list);
	sandbox_result_release(&result);
	return ok;
}

static bool advises(const struct one_case *c, const struct failure *f)
{
	const char *part = get(c, "advice"), *advice = failure_advice(get(c, "lang"), f);

	if (!part || strstr(advice, part))
		return true;
	print_error("%s: \"%s\" does not advise \"%s\"\n", c->name, advice, part);
	return false;
}

static bool run_failure(const struct one_case *c)
{
	const char *text = get(c, "stderr"), *outcome = get(c, "outcome");
	const char *file = get(c, "file");
	cleanup_free char *bytes = mem_strdup(text ? text : "");
	struct sandbox_forbidden forbidden = { .count = 1 };
	struct sandbox_result result = { .exit_code = (int)number(c, "exit", 1) };
	struct failure f = { 0 };

	if (outcome)
		result.outcome = (enum sandbox_outcome)sandbox_outcome_parse(outcome);
	result.err = (struct sandbox_stream){ bytes, strlen(bytes), strlen(bytes), false };
	if (get(c, "forbidden")) {
		snprintf(forbidden.syscall, sizeof(forbidden.syscall), "%s", get(c, "forbidden"));
		result.forbidden = &forbidden;
		result.forbidden_count = 1;
	}
	failure_find(get(c, "lang"), file ? file : "main.py", &result, &f);
	cleanup_json struct json *o = failure_json(&f);
	bool ok = same(c, "class", json_get_string(o, "class")) && same(c, "type", f.type) &&
		  same_number(c, "line", f.line) && same_number(c, "column", f.column) &&
		  says(c, f.message) && advises(c, &f);
	failure_release(&f);
	return ok;
}

static void test_extract_cases(void **state)
{
	(void)state;
	run_folder("extract", run_extract);
}

static void test_check_cases(void **state)
{
	(void)state;
	run_folder("check", run_check);
}

static void test_failure_cases(void **state)
{
	(void)state;
	run_folder("failure", run_failure);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		cmocka_unit_test(test_extract_cases),
		cmocka_unit_test(test_check_cases),
		cmocka_unit_test(test_failure_cases),
	};

	return cmocka_run_group_tests(cases, open_sandbox, close_sandbox);
}
