/*
 * Regular expressions: what matches, what is refused, and searches that run out of effort. What a
 * pattern of ours is to match is shown where it is used (test_verifier_lang.c compiles them).
 */
#include "base/regex.h"

#include "base/mem.h"
#include "tests/unit/test_moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include <cmocka.h>

static struct regex *compile(const char *pattern, unsigned flags)
{
	struct error err = ERROR_INIT;
	struct regex *re = regex_compile(pattern, flags, &err);

	if (!re)
		fail_msg("%s", err.message);
	return re;
}

static int search(const char *pattern, unsigned flags, const char *subject)
{
	cleanup_regex struct regex *re = compile(pattern, flags);
	struct error err = ERROR_INIT;

	return regex_search(re, subject, strlen(subject), 0, NULL, 0, &err);
}

static void test_groups(void **state)
{
	cleanup_regex struct regex *re = compile("(\\d+)-(x)?()(y)?", 0);
	struct error err = ERROR_INIT;
	struct regex_span s[7];

	(void)state;
	memset(s, 0xff, sizeof(s));
	assert_int_equal(regex_search(re, "ab 12-", 6, 0, s, 7, &err), 1);
	assert_int_equal(s[0].start, 3);
	assert_int_equal(s[0].end, 6);
	assert_int_equal(s[1].end, 5);
	assert_false(s[2].set);
	assert_true(s[3].set);
	assert_int_equal(s[3].start, s[3].end);
	assert_false(s[4].set);
	assert_false(s[6].set); /* more asked for than the pattern has */
	assert_int_equal(regex_search(re, "ab 12-", 6, 5, s, 1, &err), 0);
	assert_int_equal(regex_search(re, "ab 12-", 6, 6, s, 1, &err), 0);
	assert_int_equal(regex_search(re, "ab 12-", 6, 7, s, 1, &err), -1);
}

static void test_flags(void **state)
{
	(void)state;
	assert_int_equal(search("ABC", 0, "xabc"), 0);
	assert_int_equal(search("ABC", REGEX_ICASE, "xabc"), 1);
	assert_int_equal(search("^b$", 0, "a\nb\nc"), 0);
	assert_int_equal(search("^b$", REGEX_MULTILINE, "a\nb\nc"), 1);
	assert_int_equal(search("a.b", 0, "a\nb"), 0);
	assert_int_equal(search("a.b", REGEX_DOTALL, "a\nb"), 1);
	assert_int_equal(search("\xc3\x89", REGEX_ICASE, "\xc3\xa9"), 1);
	assert_int_equal(search("^.$", 0, "\xc3\xa9"), 1);
}

static void test_bad_patterns(void **state)
{
	static const char *const bad[] = { "(",
					   "a)",
					   "[a",
					   "*",
					   "a{2,1}",
					   "\\C",
					   "(?<=a*)b",
					   "\xff",
					   "(?P<n>a)(?P<n>b)",
					   "\\1",
					   "(?:(?:a{1,65535}){1,65535}){1,65535}" };
	cleanup_free char *deep = mem_alloc(20001);
	struct error err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		error_clear(&err);
		if (regex_compile(bad[i], 0, &err))
			fail_msg("%s: accepted", bad[i]);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.message, "at byte "));
	}
	memset(deep, '(', 10000);
	memset(deep + 10000, ')', 10000);
	assert_null(regex_compile(deep, 0, &err));
}

static void test_invalid_subject(void **state)
{
	cleanup_regex struct regex *re = compile("b.", 0);
	struct error err = ERROR_INIT;
	struct regex_span s;

	(void)state;
	assert_int_equal(regex_search(re,
				      "\xff\xfe"
				      "b\xff"
				      "bc\x80",
				      7, 0, &s, 1, &err),
			 1);
	assert_int_equal(s.start, 4);
	assert_int_equal(s.end, 6);
	assert_int_equal(regex_search(re, "a\0bc", 4, 0, &s, 1, &err), 1);
	assert_int_equal(s.start, 2);
	assert_int_equal(regex_search(re, NULL, 0, 0, &s, 1, &err), 0);
	/* a start inside a character neither matches half of it nor crashes */
	assert_true(regex_search(re, "\xe2\x82\xac", 3, 1, &s, 1, &err) <= 0);
}

/* Every one of these takes minutes to ages without limits. */
static void test_catastrophes_are_bounded(void **state)
{
	static const char *const patterns[] = {
		"(a+)+\\d",
		"^(a|aa)+\\d",
		"(?:a|aa){1,20}\\d",
		"^.*[a-y]*\\d",
		"^(a*)\\1\\d",
		"^.*.*.*.*\\d",
		"((a*)*)*\\d",
		"(?:(?:a?){50}){50}\\d",
		"(*NO_JIT)(a+)+\\d",
		"(*NO_JIT)^.*[a-y]*\\d",
		"^(?:(a)|b|(?1))+\\d",
		"(*LIMIT_MATCH=4000000000)(a+)+\\d",
	};
	size_t len = 1 << 20, i;
	cleanup_free char *subject = mem_alloc(len);

	(void)state;
	memset(subject, 'a', len);
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		cleanup_regex struct regex *re = compile(patterns[i], 0);
		int64_t start = clock_cpu_us();
		struct error err = ERROR_INIT;

		if (regex_search(re, subject, len, 0, NULL, 0, &err) != -1)
			fail_msg("%s met no limit", patterns[i]);
		assert_int_equal(err.kind, ERR_FAILED);
		assert_true(strlen(err.message) > 20);
		ASSERT_MOMENT(patterns[i], start);
		/* and the next search begins with nothing used up */
		assert_int_equal(regex_search(re, "aa1", 3, 0, NULL, 0, &err), 1);
	}
}

static void test_honest_megabyte(void **state)
{
	static const char *const patterns[] = { "^(?:a|b)*$", "^(a|b)*$", "(?:[^\"]|\\\\\")*",
						"^(?:\\w+\\s?)*$", "a{3,5}$" };
	size_t len = 1 << 20, i;
	cleanup_free char *subject = mem_alloc(len);
	struct error err = ERROR_INIT;

	(void)state;
	memset(subject, 'a', len);
	for (i = 0; i < ARRAY_SIZE(patterns); i++) {
		cleanup_regex struct regex *re = compile(patterns[i], 0);

		if (regex_search(re, subject, len, 0, NULL, 0, &err) != 1)
			fail_msg("%s: %s", patterns[i], err.message);
	}
}

/* --- several patterns together --- */

#define SLOW "^(?:a|aa)+\\d"

static void test_effort_is_shared(void **state)
{
	struct regex_effort effort = { .left_us = 300000 };
	cleanup_regex struct regex *re = compile(SLOW, 0);
	cleanup_free char *subject = mem_alloc(4000);
	int64_t start = clock_cpu_us();
	struct error err = ERROR_INIT;

	(void)state;
	memset(subject, 'a', 4000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(regex_search_within(re, subject, 4000, &effort, &err), -1);
	assert_int_equal(err.kind, ERR_FAILED);
	assert_non_null(strstr(err.message, "patterns before it"));
	assert_null(regex_compile_within("a", 0, &effort, &err));
	ASSERT_MOMENT("ten thousand searches", start);
	effort.left_us = 300000;
	assert_int_equal(regex_search_within(re, "aaa1", 4, &effort, &err), 1);
	assert_true(effort.left_us > 0 && effort.left_us < 300000);
}

/* The limit on backtracking ends most patterns first: these it does not. */
static void search_stopped(const struct stop *stop, enum error_kind want)
{
	struct regex_effort effort = { stop, 100000000 };
	cleanup_regex struct regex *re = compile("^.*[a-y]*\\d", 0);
	size_t len = 1 << 20;
	cleanup_free char *subject = mem_alloc(len);
	struct error err = ERROR_INIT;
	int64_t start = clock_cpu_us();

	memset(subject, 'a', len);
	assert_int_equal(regex_search_within(re, subject, len, &effort, &err), -1);
	assert_int_equal(err.kind, want);
	ASSERT_MOMENT("what was stopped", start);
}

static void test_search_is_stopped(void **state)
{
	struct stop stop = STOP_NEVER;

	(void)state;
	stop.deadline_ms = clock_mono_ms() + 50;
	search_stopped(&stop, ERR_DEADLINE);
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	stop = (struct stop){ .cancel_fd = ends[0], .deadline_ms = INT64_MAX };
	assert_false(stop_now(&stop));
	assert_int_equal(write(ends[1], "", 1), 1);
	assert_true(stop_now(&stop));
	search_stopped(&stop, ERR_CANCELLED);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_bad_patterns),
		cmocka_unit_test(test_invalid_subject),
		cmocka_unit_test(test_catastrophes_are_bounded),
		cmocka_unit_test(test_honest_megabyte),
		cmocka_unit_test(test_effort_is_shared),
		cmocka_unit_test(test_search_is_stopped),
	};

	return cmocka_run_group_tests_name("base regex", tests, NULL, NULL);
}
