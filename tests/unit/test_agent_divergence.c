/*
 * Of what kind a divergence is. Nothing is run or replayed here: two records are given, as texts
 * and stages.
 */
#include "agent/record/divergence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static void expect_texts(const char *before, const char *after, const char *code,
			 enum divergence want)
{
	const struct divergence_texts t = {
		.before = before,
		.after = after,
		.before_len = strlen(before),
		.after_len = strlen(after),
		.code = code,
		.code_len = code ? strlen(code) : 0,
	};

	assert_string_equal(divergence_name(divergence_of_texts(&t)), divergence_name(want));
}

static void test_texts(void **state)
{
	(void)state;
	expect_texts("1795388482.43 x", "1795388482.69 x", NULL, DIVERGED_BY_TIME);
	expect_texts("at 12:04:59", "at 12:05:00", NULL, DIVERGED_BY_TIME);
	expect_texts("2024-05-01T12:00:00Z", "2024-05-02T12:00:00Z", NULL, DIVERGED_BY_TIME);
	/* Addresses are near to each other, too. */
	expect_texts("<object at 0x7f8f1131c150>", "<object at 0x7f8f1131c250>", "print(object())",
		     DIVERGED_BY_RANDOMNESS);
	expect_texts("b, a", "a, b", NULL, DIVERGED_BY_ORDER);
	expect_texts("{'x', 'y'}", "{'y', 'x'}", NULL, DIVERGED_BY_ORDER);
	expect_texts("1", "2", NULL, DIVERGED_BY_VALUE);
	expect_texts("0.1", "0.7", "random.random()", DIVERGED_BY_RANDOMNESS);
	expect_texts("0.1", "0.7", "time.perf_counter() - start", DIVERGED_BY_TIME);
	expect_texts("", "2", NULL, DIVERGED_BY_VALUE);
	expect_texts("", "", NULL, DIVERGED_BY_VALUE);
}

static void expect_stage(const char *row, const char *changes, enum divergence varies,
			 enum divergence want)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *r = json_parse(row, strlen(row), 0, &err);
	cleanup_json struct json *c = json_parse(changes, strlen(changes), 0, &err);

	assert_non_null(r);
	assert_non_null(c);
	assert_string_equal(divergence_name(divergence_of_stage(r, c, varies)),
			    divergence_name(want));
}

#define ROW(stage_, phase_, field_)                                                                \
	"{\"stage\":\"" stage_ "\",\"phase\":\"" phase_ "\",\"differences\":[{\"field\":\"" field_ \
	"\"}]}"
#define CHANGED(name_) "[{\"name\":\"" name_ "\"}]"

static void test_stages(void **state)
{
	const enum divergence same = DIVERGED_BY_VALUE;

	(void)state;
	expect_stage(ROW("end", "done", "status"), "[]", same, DIVERGED_BY_STATUS);
	expect_stage(ROW("code", "started", "stage"), "[]", same, DIVERGED_BY_STATUS);
	expect_stage(ROW("inspect", "done", "text"), "[]", same, DIVERGED_BY_INPUT);
	expect_stage(ROW("execute", "done", "stdout"), "[]", same, DIVERGED_BY_VALUE);
	expect_stage(ROW("execute", "done", "stdout"), "[]", DIVERGED_BY_ORDER, DIVERGED_BY_ORDER);
	expect_stage(ROW("execute", "done", "stdout"), CHANGED("python"), same,
		     DIVERGED_BY_ENVIRONMENT);
	expect_stage(ROW("execute", "done", "stdout"), CHANGED("prompt code"), same,
		     DIVERGED_BY_VALUE);
	expect_stage(ROW("screen", "done", "findings"), "[]", same, DIVERGED_BY_RULES);
	expect_stage(ROW("screen", "done", "tree"), CHANGED("python"), same,
		     DIVERGED_BY_ENVIRONMENT);
	expect_stage(ROW("code", "started", "prompt"), "[]", same, DIVERGED_BY_PROMPT);
	expect_stage(ROW("code", "started", "messages"), CHANGED("prompt contract"), same,
		     DIVERGED_BY_PROMPT);
	expect_stage(ROW("code", "started", "messages"), "[]", same, DIVERGED_BY_VERSION);
	expect_stage(ROW("code", "done", "text"), "[]", same, DIVERGED_BY_VALUE);
	expect_stage(ROW("extract", "done", "blocks"), "[]", same, DIVERGED_BY_VERSION);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < DIVERGENCE_COUNT; i++)
		assert_int_equal(divergence_parse(divergence_name((enum divergence)i)), i);
	assert_int_equal(divergence_parse("weather"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_stages),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
