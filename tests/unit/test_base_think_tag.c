/*
 * The tags of thinking, whole, begun and mentioned.
 * Where one counts in a reply is shown by test_llm_sse.c and the cases of extract.
 */
#include "base/think_tag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const names[THINK_KINDS] = { "think", "thinking", "thought", "reasoning" };

static void write_tag(char tag[THINK_TAG_MAX], int kind, bool closing)
{
	int n = snprintf(tag, THINK_TAG_MAX, "%s%s>", closing ? "</" : "<", names[kind]);

	assert_in_range(n, 1, THINK_TAG_MAX - 1);
}

static void check_tag(int kind, bool closing)
{
	char tag[THINK_TAG_MAX];
	int found = THINK_ANY, other = (kind + 1) % THINK_KINDS;

	write_tag(tag, kind, closing);
	size_t len = strlen(tag);
	assert_int_equal(think_tag(tag, len, closing, &found), len);
	assert_int_equal(found, kind);
	assert_int_equal(think_tag(tag, len, closing, &other), 0);
	assert_int_equal(think_tag(tag, len, !closing, &found), 0);
	assert_false(think_tag_begun(tag, len, closing, kind));
	for (size_t n = 0; n < len; n++) {
		assert_int_equal(think_tag(tag, n, closing, &found), 0);
		assert_true(think_tag_begun(tag, n, closing, kind));
	}
	assert_true(think_tag_mentioned(tag, len - 1, closing));
	assert_false(think_tag_mentioned(tag, 5, closing));
	char text[2 * THINK_TAG_MAX];
	snprintf(text, sizeof(text), "< %s x", tag);
	size_t at = 0;
	assert_ptr_equal(think_tag_find(text, strlen(text), closing, &found, &at), text + 2);
	assert_int_equal(at, len);
	assert_null(think_tag_find(text, strlen(text), closing, &other, &at));
}

static void test_each(void **state)
{
	(void)state;
	for (int kind = 0; kind < THINK_KINDS; kind++) {
		check_tag(kind, false);
		check_tag(kind, true);
	}
}

static void test_none(void **state)
{
	static const char *const none[] = { "",		"<",	   "think>",   "<Think>",
					    "< think>", "<thin>",  "<thinks>", "</ think>",
					    "<reason>", "<<think>" };

	(void)state;
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		int kind = THINK_ANY;

		assert_int_equal(think_tag(none[i], strlen(none[i]), false, &kind), 0);
		assert_int_equal(think_tag(none[i], strlen(none[i]), true, &kind), 0);
		assert_int_equal(kind, THINK_ANY);
	}
	assert_false(think_tag_begun("<thinx", 6, false, THINK_ANY));
	assert_true(think_tag_begun("<thin", 5, false, THINK_ANY));
	assert_false(think_tag_begun("<thin", 5, false, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
