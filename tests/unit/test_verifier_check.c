/* Checks from the side of whoever would be served by a weak or a monstrous one:
 * what proves nothing is known for it, and no argument of a planner costs more
 * than a moment or passes by accident. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "tests/unit/test_moment.h"
#include "verifier/check/check.h"

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
	{ "regex:\\d", false },
	{ "regex:\\d+", false },
	{ "regex:.", false },
	{ "regex:.+", false },
	{ "regex:^.*$", false },
	{ "regex:^-?\\d+(\\.\\d+)?$", false },
	{ "regex:\\w", false },
	{ "regex:^\\d+$", false },
	{ "regex:[a-z]", false },
	{ "regex:\\S", false },
	{ "regex:(?s).*", false },
	{ "regex:^[\\w .]+$", false },
	{ "regex:^\\w+,\\w+$", true },
	{ "regex:^\\w+ \\d+$", true },
	{ "regex:^\\d{4}-\\d\\d-\\d\\d$", true },
	{ "regex:^(yes|no)$", true },
	{ "regex:^[a-z0-9.+-]+ \\d+\\.\\d MiB$", true },
	{ "lines:1", false },
	{ "lines:1..", false },
	{ "lines:..100", false },
	{ "lines:1..1000", false },
	{ "lines:2..", false },
	{ "lines:10", true },
	{ "lines:12..31", true },
	{ "range:0..", false },
	{ "range:-1e9..1e9", false },
	{ "range:0..1e7", false },
	{ "range:0..100", true },
	{ "range:0..1", true },
	{ "contains: ", false },
	{ "contains:total", true },
	{ "contains:.", false },
	{ "regex:^.+: .+$", false },
	{ "contains:,", false },
	{ "regex:^total: \\d+$", true },
	{ "nonnegative", false },
	{ "json", false },
	{ "runtime:5000", false },
	{ "artifact:*", false },
	{ "artifact:*.png", true },
	{ "count:0:error", false },
	{ "count:3:error", true },
	{ "number:0±1e9", false },
	{ "number:42", true },
	{ "equals:42", true },
	{ "sum:100", true },
	{ "unique", true },
	{ "sorted", true },
	{ "monotone", true },
	{ "probabilities", true },
	{ "field:a", true },
};

static void test_worth(void **state)
{
	size_t bad = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(worth); i++) {
		struct check_list list = { .checks = NULL };
		struct error err = ERROR_INIT;
		const char *by = "nothing can be asked of it";

		if (!check_add_text(&list, worth[i].check, CHECK_PLANNER, &err))
			by = check_is_vacuous(&list.checks[0], NULL) ?
				     "everything" :
				     check_passed_by(&list.checks[0], NULL);
		if (!by != worth[i].proves) {
			print_error("%s: passed by %s\n", worth[i].check, by ? by : "nothing");
			bad++;
		}
		check_list_release(&list);
	}
	assert_int_equal(bad, 0);
}

/* --- what would be passed over --- */

/* A demand that is not understood must be refused: a check without it passes. */
static void test_refused(void **state)
{
	static const char *const refused[] = {
		"artifact:{\"glob\":\"a.png\",\"typ\":\"png\"}",
		"artifact:{\"glob\":\"a.png\",\"type\":5}",
		"artifact:{\"glob\":\"a.png\",\"type\":\"pnng\"}",
		"artifact:{\"glob\":\"a.png\",\"min_bytes\":\"5000\"}",
		"artifact:{\"type\":\"png\"}",
		"number:3±inf",
		"number:3±nan",
		"number:inf",
		"number:nan",
		"range:nan..3",
	};
	static const char *const refused_json[] = {
		"{\"number\":3,\"tolerance\":\"0.1\"}",
		"{\"range\":{\"min\":\"0\",\"max\":3}}",
		"{\"range\":{\"minimum\":0}}",
		"{\"lines\":{\"least\":1}}",
	};
	struct check_list list = { .checks = NULL };
	struct error err = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		if (!check_add_text(&list, refused[i], CHECK_USER, &err))
			fail_msg("taken: %s", refused[i]);
	for (size_t i = 0; i < ARRAY_SIZE(refused_json); i++) {
		cleanup_json struct json *expect =
			json_parse(refused_json[i], strlen(refused_json[i]), 0, &err);

		assert_non_null(expect);
		if (!check_add_expect(&list, expect, CHECK_TASK, &err))
			fail_msg("taken: %s", refused_json[i]);
	}
	check_list_release(&list);
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
	"{\"kind\":[],\"arg\":{}}",
	"{\"kind\":\"\"}",
	"[]",
	"null",
	"7",
	"\"\"",
	"\":\"",
};

#define LONG_OUTPUT ((size_t)1 << 20)

/* Whatever a list of such checks says of an output of a megabyte. */
static void judge_all(const struct check_list *list, const char *about)
{
	cleanup_free char *output = mem_alloc(LONG_OUTPUT + 1);
	int64_t began = clock_cpu_us();

	memset(output, 'a', LONG_OUTPUT);
	output[LONG_OUTPUT - 1] = '!';
	output[LONG_OUTPUT] = '\0';
	struct sandbox_result result;
	result_of(output, &result);
	for (size_t i = 0; i < list->count; i++) {
		struct check_result r;

		check_evaluate(&list->checks[i], &result, NULL, &r);
		assert_non_null(r.detail);
		assert_true(strlen(r.detail) < 4000);
		if (r.verdict == VERDICT_PASS && !check_is_vacuous(&list->checks[i], NULL) &&
		    !check_passed_by(&list->checks[i], NULL))
			fail_msg("%s: passes", about);
		check_result_release(&r);
	}
	ASSERT_MOMENT(about, began);
	free(result.out.bytes);
}

static void test_monstrous(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(monstrous); i++) {
		cleanup_free char *text = mem_printf("[%s]", monstrous[i]);
		struct error err = ERROR_INIT;
		cleanup_json struct json *plan =
			json_parse(text, strlen(text), JSON_BIG_AS_STRING, &err);
		struct check_list list = { .checks = NULL };

		if (!plan) /* strict JSON has refused it before any check could */
			continue;
		check_add_plan(&list, plan);
		judge_all(&list, monstrous[i]);
		check_list_release(&list);
	}
}

/* Two megabytes of argument to each kind. */
static void test_long_arguments(void **state)
{
	static const char *const kinds[] = { "equals", "exact",	   "contains", "regex",	 "number",
					     "range",  "lines",	   "count",    "json",	 "field",
					     "sum",    "artifact", "sorted",   "runtime" };
	size_t len = (size_t)2 << 20, i;
	cleanup_free char *text = mem_alloc(len + 1);

	(void)state;
	memset(text, '1', len);
	text[len] = '\0';
	memcpy(text, "3:", 2);
	cleanup_json struct json *arg = json_new_string(text);
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

/* --- a hint helps, and holds nothing of what is expected --- */

static const struct {
	const char *check, *output;
	const char *says;
	const char *secret; /* a part of the expected value that must not be in it */
} hints[] = {
	{ "equals:987651234", "12\n", "a whole number is expected", "98" },
	{ "equals:alpha 7\nbravo 8\ncharlie 9", "alpha 7\nbravo 5\n", "line 2, column 7",
	  "charlie" },
	{ "equals:alpha 7\nbravo 8\ncharlie 9", "alpha 7\nbravo 5\n",
	  "3 lines are expected, the output has 2", "vo 8" },
	{ "equals:alpha\nbravo", "bravo\nalpha\n", "in another order", NULL },
	{ "equals:Zurich", "zurich\n", "Only upper and lower case", "Zurich" },
	{ "equals:x=17", "x = 17\n", "Only blanks", "x=17" },
	{ "equals:Zurich", "It is Zurich.\n", "with more around it", NULL },
	{ "equals:Zurich", "", "The output is empty", "urich" },
	{ "exact:quebec\n", "quebec", "where the output ends", NULL },
	{ "equals:3.25", "seven\n", "a number with a fraction is expected", "3.2" },
	{ "equals:one, two, three", "5\n", "values with commas", "two" },
	{ "contains:xylophone", "a piano\n", "one word in it", "xyl" },
	{ "number:31415.5", "27\n", "27, which is too small; a number with a fraction", "314" },
	{ "number:31415", "99999\n", "too large; a whole number", "314" },
	{ "number:31415", "none\n", "the output has none", "314" },
	{ "sum:777", "5\n6\n", "The sum of the numbers is 11, which is too small", "777" },
	{ "json:{\"city\":\"Oslo\",\"zip\":[80,9155]}", "{\"city\":\"Oslo\",\"zip\":[80,1]}",
	  "At .zip[1] the output has 1, where another number", "9155" },
	{ "json:{\"city\":\"Oslo\"}", "{\"town\":\"x\"}", "The member .town is not expected",
	  "city" },
	{ "json:[\"quebec\",5]", "[1]", "array of 2", "queb" },
	{ "json:{\"city\":\"Oslo\"}", "no\n", "must be one JSON document", "Oslo" },
	{ "field:user.age=4242", "{\"user\":{}}", "expected is number", "4242" },
	{ "field:user.age=4242", "{\"user\":{}}", "A field", "age" },
};

static void test_hints(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		cleanup_buf struct buf out = BUF_INIT(1 << 16);
		struct check_list list = { .checks = NULL };
		struct sandbox_result result;
		struct error err = ERROR_INIT;

		assert_int_equal(check_add_text(&list, hints[i].check, CHECK_TASK, &err), 0);
		result_of(hints[i].output, &result);
		check_hint(&out, &list.checks[0], &result);
		if (!strstr(out.data, hints[i].says) ||
		    (hints[i].secret && strstr(out.data, hints[i].secret)))
			fail_msg("%s: %s", hints[i].check, out.data);
		free(result.out.bytes);
		check_list_release(&list);
	}
}

/* A line of the output may end in the middle, as far as a C string goes. */
static void test_hint_of_nul(void **state)
{
	static char bytes[] = "a\0b\nc\nd\n";
	cleanup_buf struct buf out = BUF_INIT(1 << 16);
	struct check_list list = { .checks = NULL };
	struct sandbox_result result = { .out = { .bytes = bytes, .len = sizeof(bytes) - 1 } };
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(check_add_text(&list, "equals:x\ny\nz", CHECK_TASK, &err), 0);
	check_hint(&out, &list.checks[0], &result);
	assert_non_null(strstr(out.data, "3 lines are expected, the output has 3"));
	assert_null(strstr(out.data, "another order"));
	check_list_release(&list);
}

#define SECRET_SHARE 4 /* bytes in a row */

/* Of texts of no sense nothing may be told that the output does not hold. */
static void test_hints_leak_nothing(void **state)
{
	static const char letters[] = "QZXJKVWY0123456789#%&";
	unsigned seed = 7;

	(void)state;
	for (int round = 0; round < 500; round++) {
		const char *kind = round % 3 ? "equals" : "contains";
		cleanup_buf struct buf out = BUF_INIT(1 << 16);
		struct check_list list = { .checks = NULL };
		struct error err = ERROR_INIT;
		size_t i, n = 8 + (unsigned)rand_r(&seed) % 40;
		char secret[60], output[60];

		for (i = 0; i < n; i++) {
			secret[i] = i % 13 == 12 ? '\n' : letters[(unsigned)rand_r(&seed) % 21];
			output[i] = (unsigned)rand_r(&seed) % 8 ? secret[i] : 'm';
		}
		secret[n] = output[n] = '\0';
		cleanup_json struct json *arg = json_new_string(secret);
		assert_int_equal(check_add(&list, kind, arg, CHECK_USER, &err), 0);
		struct sandbox_result result;
		result_of(output, &result);
		check_hint(&out, &list.checks[0], &result);
		for (i = 0; i + SECRET_SHARE <= n; i++) {
			char part[SECRET_SHARE + 1] = { 0 };

			memcpy(part, secret + i, SECRET_SHARE);
			if (!strstr(output, part) && strstr(out.data, part))
				fail_msg("%s of %s is in: %s", part, secret, out.data);
		}
		free(result.out.bytes);
		check_list_release(&list);
	}
}

/* --- in words, as a model is told --- */

static const struct {
	const char *check, *words;
} sayings[] = {
	{ "equals:42", "the output is this text (blanks at line ends do not matter): 42" },
	{ "regex:^[a-z]{2,}$",
	  "some line of the output matches this pattern (PCRE2): ^[a-z]{2,}$" },
	{ "number:3.5", "the last number of the output is 3.5" },
	{ "number:3.5±0.1", "the last number of the output is 3.5, at most 0.1 off" },
	{ "range:0..100", "the last number of the output is between 0 and 100" },
	{ "range:7..", "the last number of the output is at least 7" },
	{ "lines:5", "the number of lines of the output is 5" },
	{ "lines:..9", "the number of lines of the output is at most 9" },
	{ "count:3:{min}", "the output has this text in it 3 times: {min}" },
	{ "json", "the output is JSON" },
	{ "json:{\"a\":[1]}", "the output is JSON, equal to {\"a\":[1]}" },
	{ "field:a.b", "the output is JSON with the field a.b" },
	{ "field:a.b=x", "the output is JSON with the field a.b, whose value is x" },
	{ "unique", "no line of the output comes twice" },
	{ "monotone:strictly decreasing", "the numbers of the output (the last of each line) are "
					  "in strictly decreasing order" },
	{ "sorted", "the lines of the output are in increasing order, by number when all are "
		    "numbers" },
	{ "artifact:*.svg", "a file *.svg is written to /out" },
	{ "artifact:{\"glob\":\"a.png\",\"type\":\"png\",\"min_bytes\":9}",
	  "a file a.png is written to /out, of type png, its size in bytes at least 9" },
	{ "runtime:500", "the run takes at most 500 ms" },
};

static void test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sayings); i++) {
		cleanup_buf struct buf words = BUF_INIT(1 << 12);
		struct check_list list = { .checks = NULL };
		struct error err = ERROR_INIT;

		assert_int_equal(check_add_text(&list, sayings[i].check, CHECK_PLANNER, &err), 0);
		check_describe(&words, &list.checks[0]);
		assert_string_equal(words.data, sayings[i].words);
		check_list_release(&list);
	}
}

/* Any number of patterns, each good for a second, take what one effort allows. */
static void test_many_patterns_are_bounded(void **state)
{
	struct regex_effort effort = { .left_us = 500000 };
	struct sandbox_result result = { .outcome = SANDBOX_EXIT };
	cleanup_free char *output = mem_alloc(1 << 20);
	struct check_list list = { 0 };
	struct error err = ERROR_INIT;
	int64_t start = clock_cpu_us();
	size_t errors = 0;

	(void)state;
	memset(output, 'a', 1 << 20);
	result.out = (struct sandbox_stream){ .bytes = output, .len = 1 << 20, .total = 1 << 20 };
	for (size_t i = 0; i < 1500; i++)
		assert_int_equal(check_add_text(&list, "regex:(?:(?:a?){50}){50}\\d", CHECK_PLANNER,
						&err),
				 0);
	for (size_t i = 0; i < list.count; i++) {
		struct check_result r;

		check_evaluate(&list.checks[i], &result, &effort, &r);
		errors += r.verdict == VERDICT_ERROR;
		check_result_release(&r);
	}
	assert_int_equal(errors, 1500);
	/* What cannot be tried on outputs that answer nothing proves nothing. */
	assert_non_null(check_passed_by(&list.checks[0], &effort));
	check_list_release(&list);
	ASSERT_MOMENT("1500 patterns", start);
}

static void test_plan_of_many_checks(void **state)
{
	cleanup_json struct json *plan = json_array();
	struct check_list list = { 0 };

	(void)state;
	for (int i = 0; i < 5000; i++)
		json_append(plan, json_new_string("regex:^(a+)+$"));
	assert_int_equal(check_add_plan(&list, plan), 5000 - CHECK_PLAN_MAX);
	assert_int_equal(list.count, CHECK_PLAN_MAX);
	check_list_release(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_worth),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_monstrous),
		cmocka_unit_test(test_long_arguments),
		cmocka_unit_test(test_hints),
		cmocka_unit_test(test_hint_of_nul),
		cmocka_unit_test(test_hints_leak_nothing),
		cmocka_unit_test(test_many_patterns_are_bounded),
		cmocka_unit_test(test_plan_of_many_checks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
