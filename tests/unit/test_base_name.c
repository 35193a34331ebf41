/*
 * Tables of names.
 * Which names there are is shown where each table is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/name.h"

static const char *const names[] = { "one", "two", "three", NULL };

static void test_finds_what_is_there(void **state)
{
	(void)state;
	assert_int_equal(name_find(names, ARRAY_SIZE(names), "one"), 0);
	assert_int_equal(name_find(names, ARRAY_SIZE(names), "three"), 2);
	assert_int_equal(name_find(names, ARRAY_SIZE(names), "tw"), -1);
	assert_int_equal(name_find(names, ARRAY_SIZE(names), "Two"), -1);
	assert_int_equal(name_find(names, ARRAY_SIZE(names), ""), -1);
	assert_int_equal(name_find(names, ARRAY_SIZE(names), NULL), -1);
	assert_int_equal(name_find(names, 2, "three"), -1);
	assert_int_equal(name_find(names, 0, "one"), -1);
}

static void test_lists_in_words(void **state)
{
	static const char *const expected[] = { "", "one", "one or two", "one, two or three" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		cleanup_buf struct buf out = BUF_INIT(64);

		buf_addstr(&out, "");
		name_list(&out, names, i, ", ", " or ");
		assert_string_equal(out.data ? out.data : "", expected[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds_what_is_there),
		cmocka_unit_test(test_lists_in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
