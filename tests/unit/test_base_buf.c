/*
 * The growable buffer: its invariants at the ceiling, at nothing, and where sums would wrap. Memory
 * that there is not ends the program, and is test_base_error.c's.
 */
#include "base/buf.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_append(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(BUF_MAX_DEFAULT);

	(void)state;
	assert_string_equal(b.data, "");
	assert_int_equal(buf_addstr(&b, "ab"), 0);
	assert_int_equal(buf_addch(&b, '\0'), 0);
	assert_int_equal(buf_addf(&b, "%s-%d", "x", 7), 0);
	assert_int_equal(buf_add(&b, NULL, 0), 0);
	assert_int_equal(b.len, 6);
	assert_memory_equal(b.data, "ab\0x-7", 7);
}

static void test_ceiling_met_and_passed(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(4);

	(void)state;
	assert_int_equal(buf_addstr(&b, "abcd"), 0);
	assert_false(b.overflow);
	assert_int_equal(buf_add(&b, "", 0), 0);
	assert_int_equal(buf_addch(&b, 'e'), -1);
	assert_true(b.overflow);
	assert_string_equal(b.data, "abcd");
	assert_int_equal(b.len, 4);
	assert_null(buf_room(&b, 1));
	assert_int_equal(buf_addf(&b, "%d", 12345), -1);
	buf_consume(&b, 1);
	assert_int_equal(buf_addch(&b, 'e'), 0);
	assert_true(b.overflow); /* sticky, although the last one fitted */
	buf_clear(&b);
	assert_false(b.overflow);
	assert_string_equal(b.data, "");
}

static void test_truncate(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(8);

	(void)state;
	buf_truncate(&b, 0); /* nothing allocated, nothing written */
	buf_addstr(&b, "abcd");
	buf_truncate(&b, 9);
	assert_string_equal(b.data, "abcd");
	buf_truncate(&b, 2);
	assert_int_equal(b.len, 2);
	assert_string_equal(b.data, "ab");
	assert_int_equal(buf_addstr(&b, "xyz"), 0);
	assert_string_equal(b.data, "abxyz");
}

static void test_nothing_allowed(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(0);

	(void)state;
	assert_int_equal(buf_addstr(&b, ""), 0);
	assert_int_equal(buf_addch(&b, 'a'), -1);
	assert_string_equal(b.data, "");
}

static void test_sums_do_not_wrap(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(SIZE_MAX);

	(void)state;
	assert_int_equal(buf_addstr(&b, "abc"), 0);
	assert_null(buf_room(&b, SIZE_MAX));
	assert_null(buf_room(&b, SIZE_MAX - 3));
	assert_null(buf_room(&b, PTRDIFF_MAX));
	assert_true(b.overflow);
	assert_string_equal(b.data, "abc");
}

static void test_growth_keeps_bytes(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(100000);

	(void)state;
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(buf_addch(&b, (char)i), 0);
	assert_int_equal(buf_addch(&b, 'x'), -1);
	for (size_t i = 0; i < 100000; i++)
		assert_int_equal(b.data[i], (char)i);
	assert_int_equal(b.data[b.len], 0);
}

static void test_room(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(100);

	(void)state;
	buf_addstr(&b, "ab");
	char *room = buf_room(&b, 98);
	assert_non_null(room);
	memset(room, 'z', 98);
	buf_grew(&b, 3);
	assert_string_equal(b.data, "abzzz");
	assert_null(buf_room(&b, 96));
}

static void test_consume(void **state)
{
	cleanup_buf struct buf b = BUF_INIT(100);

	(void)state;
	buf_consume(&b, 0);
	buf_consume(&b, 5); /* more than there is, in an empty one */
	buf_addstr(&b, "hello");
	buf_consume(&b, 2);
	assert_string_equal(b.data, "llo");
	buf_consume(&b, SIZE_MAX);
	assert_int_equal(b.len, 0);
	assert_string_equal(b.data, "");
}

static void test_take_and_release(void **state)
{
	struct buf b;
	size_t len = 99;

	(void)state;
	buf_init(&b, 10);
	char *bytes = buf_take(&b, &len);
	assert_int_equal(len, 0);
	assert_string_equal(bytes, "");
	free(bytes);
	buf_addstr(&b, "mine");
	bytes = buf_take(&b, &len);
	assert_int_equal(len, 4);
	assert_string_equal(b.data, "");
	assert_int_equal(b.max, 10);
	buf_addstr(&b, "other");
	assert_string_equal(bytes, "mine");
	free(bytes);
	buf_release(&b);
	assert_int_equal(buf_addstr(&b, "usable"), 0);
	buf_release(&b);
	buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_ceiling_met_and_passed),
		cmocka_unit_test(test_truncate),
		cmocka_unit_test(test_nothing_allowed),
		cmocka_unit_test(test_sums_do_not_wrap),
		cmocka_unit_test(test_growth_keeps_bytes),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_consume),
		cmocka_unit_test(test_take_and_release),
	};

	return cmocka_run_group_tests_name("base buf", tests, NULL, NULL);
}
