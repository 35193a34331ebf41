/* Checks from the side of whoever would be served by a weak or a monstrous one:
 * what proves nothing is known for it, and no argument of a planner costs more
 * than a moment or passes by accident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "verifier/check.h"

#include <stdlib.h>
#include <string.h>

static void result_of(const char *output, struct sandbox_result *ret)
{
	*ret = (struct sandbox_result){ .outcome = SANDBOX_EXIT };
	ret->out.bytes = mem_strdup(output);
	ret->out.len = strlen(output);
	ret->out.total = ret->out.len;
}

/* --- what proves nothing --- */

static const struct {
	const char *check;
	bool proves;
} worth[] = {
	{ "regex:\\d", false }, { "regex:\\d+", false }, { "regex:.", false }, { "regex:.+", false },
	{ "regex:^.*$", false }, { "regex:^-?\\d+(\\.\\d+)?$", false }, { "regex:\\w", false },
	{ "regex:^\\d+$", false }, { "regex:[a-z]", false }, { "regex:\\S", false },
	{ "regex:(?s).*", false }, { "regex:^[\\w .]+$", false }, { "regex:^\\w+,\\w+$", true },
	{ "regex:^\\w+ \\d+$", true }, { "regex:^\\d{4}-\\d\\d-\\d\\d$", true },
	{ "regex:^(yes|no)$", true }, { "regex:^[a-z0-9.+-]+ \\d+\\.\\d MiB$", true },
	{ "lines:1", false }, { "lines:1..", false }, { "lines:..100", false }, { "lines:1..1000", false },
	{ "lines:2..", false }, { "lines:10", true }, { "lines:12..31", true },
	{ "range:0..", false }, { "range:-1e9..1e9", false }, { "range:0..1e7", false },
	{ "range:0..100", true }, { "range:0..1", true },
	{ "contains: ", false }, { "contains:total", true }, { "contains:.", false },
	{ "nonnegative", false }, { "json", false }, { "runtime:5000", false }, { "artifact:*", false },
	{ "artifact:*.png", true }, { "count:0:error", false }, { "count:3:error", true },
	{ "number:0±1e9", false }, { "number:42", true }, { "equals:42", true }, { "sum:100", true },
	{ "unique", true }, { "sorted", true }, { "monotone", true }, { "probabilities", true },
	{ "field:a", true },
};

static void test_worth(void **state)
{
	size_t i, bad = 0;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(worth); i++) {
		struct check_list list = { .checks = NULL };
		struct error err = ERROR_INIT;
		const char *by = "nothing can be asked of it";

		if (!check_add_text(&list, worth[i].check, CHECK_PLANNER, &err))
			by = check_is_vacuous(&list.checks[0]) ? "everything" :
								 check_passed_by(&list.checks[0]);
		if (!by != worth[i].proves) {
			print_error("%s: passed by %s\n", worth[i].check, by ? by : "nothing");
			bad++;
		}
		check_list_release(&list);
	}
	assert_int_equal(bad, 0);
}

/* --- arguments of a planner that means harm, or nothing --- */

static const char *const monstrous[] = {
	"{\"kind\":\"regex\",\"arg\":\"(a+)+$\"}",
	"{\"kind\":\"regex\",\"arg\":\"^(([a-z])+.)+[A-Z]([a-z])+$\"}",
	"{\"kind\":\"regex\",\"arg\":\"^(?:a?){60}a{60}$\"}",
	"{\"kind\":\"regex\",\"arg\":\"((((((a*)*)*)*)*)*)*b\"}",
	"{\"kind\":\"regex\",\"arg\":\"(?R)\"}",
	"{\"kind\":\"regex\",\"arg\":\"(a|(?R)b)*c\"}",
	"{\"kind\":\"regex\",\"arg\":\"a{65535}{65535}\"}",
	"{\"kind\":\"regex\",\"arg\":\"(?<=a{60000})b\"}",
	"{\"kind\":\"regex\",\"arg\":\"\\\\C\\\\C\"}",
	"{\"kind\":\"range\",\"arg\":[1e308,1e309]}",
	"{\"kind\":\"range\",\"arg\":\"nan..nan\"}",
	"{\"kind\":\"range\",\"arg\":\"5..1\"}",
	"{\"kind\":\"lines\",\"arg\":-1}",
	"{\"kind\":\"lines\",\"arg\":1e300}",
	"{\"kind\":\"lines\",\"arg\":\"nan\"}",
	"{\"kind\":\"lines\",\"arg\":[0,1e300]}",
	"{\"kind\":\"count\",\"arg\":{\"text\":\"\",\"count\":1}}",
	"{\"kind\":\"count\",\"arg\":{\"text\":\"a\",\"count\":-1}}",
	"{\"kind\":\"count\",\"arg\":\"1e18:a\"}",
	"{\"kind\":\"number\",\"arg\":\"nan\"}",
	"{\"kind\":\"number\",\"arg\":\"inf±inf\"}",
	"{\"kind\":\"number\",\"arg\":\"1±inf\"}",
	"{\"kind\":\"number\",\"arg\":\"1±nan\"}",
	"{\"kind\":\"number\",\"arg\":{\"value\":1,\"tolerance\":1e308}}",
	"{\"kind\":\"number\",\"arg\":{\"value\":1,\"tolerance\":\"x\"}}",
	"{\"kind\":\"sum\",\"arg\":{\"value\":null}}",
	"{\"kind\":\"field\",\"arg\":\"99999999999999999999.a=1\"}",
	"{\"kind\":\"field\",\"arg\":{\"path\":\"\"}}",
	"{\"kind\":\"runtime\",\"arg\":-1}",
	"{\"kind\":\"runtime\",\"arg\":\"inf\"}",
	"{\"kind\":\"artifact\",\"arg\":{\"glob\":\"*\",\"min_bytes\":-5,\"max_bytes\":1e300}}",
	"{\"kind\":\"artifact\",\"arg\":\"[[[[[[[[[[\"}",
	"{\"kind\":\"artifact\",\"arg\":\"*a*a*a*a*a*a*a*a*a*a*a*a*b\"}",
	"{\"kind\":\"json\",\"arg\":\"[[[[[[[[[[[[[[[[[[[[\"}",
	"{\"kind\":[],\"arg\":{}}", "{\"kind\":\"\"}", "[]", "null", "7", "\"\"", "\":\"",
};

#define LONG_OUTPUT ((size_t)1 << 20)
#define A_MOMENT_US (20 * 1000000LL)	/* on a loaded machine; each takes milliseconds */

/* Whatever a list of such checks says of an output of a megabyte. */
static void judge_all(const struct check_list *list, const char *about)
{
	cleanup_free char *output = mem_alloc(LONG_OUTPUT + 1);
	struct sandbox_result result;
	int64_t began = clock_mono_us();
	size_t i;

	memset(output, 'a', LONG_OUTPUT);
	output[LONG_OUTPUT - 1] = '!';
	output[LONG_OUTPUT] = '\0';
	result_of(output, &result);
	for (i = 0; i < list->count; i++) {
		struct check_result r;

		check_evaluate(&list->checks[i], &result, &r);
		assert_non_null(r.detail);
		assert_true(strlen(r.detail) < 4000);
		if (r.verdict == VERDICT_PASS && !check_is_vacuous(&list->checks[i]) &&
		    !check_passed_by(&list->checks[i]))
			fail_msg("%s: passes", about);
		check_result_release(&r);
	}
	if (clock_mono_us() - began > A_MOMENT_US)
		fail_msg("%s: took %lld us", about, (long long)(clock_mono_us() - began));
	free(result.out.bytes);
}

static void test_monstrous(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(monstrous); i++) {
		cleanup_free char *text = mem_printf("[%s]", monstrous[i]);
		struct error err = ERROR_INIT;
		cleanup_json struct json *plan = json_parse(text, strlen(text), JSON_BIG_AS_STRING, &err);
		struct check_list list = { .checks = NULL };

		if (!plan)	/* strict JSON has refused it before any check could */
			continue;
		check_add_plan(&list, plan);
		judge_all(&list, monstrous[i]);
		check_list_release(&list);
	}
}

/* Ten megabytes of argument to each kind. */
static void test_long_arguments(void **state)
{
	static const char *const kinds[] = { "equals", "exact", "contains", "regex", "number", "range",
					     "lines", "count", "json", "field", "sum", "artifact",
					     "sorted", "runtime" };
	size_t len = (size_t)10 << 20, i;
	cleanup_free char *text = mem_alloc(len + 1);
	cleanup_json struct json *arg = NULL;

	(void)state;
	memset(text, '1', len);
	text[len] = '\0';
	memcpy(text, "3:", 2);
	arg = json_new_string(text);
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct check_list list = { .checks = NULL };
		struct error err = ERROR_INIT;

		if (!check_add(&list, kinds[i], arg, CHECK_PLANNER, &err))
			judge_all(&list, kinds[i]);
		else
			assert_true(strlen(err.message) < 4000);
		check_list_release(&list);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worth),
		cmocka_unit_test(test_monstrous),
		cmocka_unit_test(test_long_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
