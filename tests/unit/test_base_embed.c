/*
 * Every embedded file is, byte for byte, the file it was made from. Which files those are is the
 * Makefile's to say, and not tested here.
 */
#include "base/embed.h"

#include "base/io.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_table_matches_files(void **state)
{
	int count = 0;

	(void)state;
	for (const struct embed *e = embed_table; e->path; e++, count++) {
		cleanup_buf struct buf file = BUF_INIT(BUF_MAX_DEFAULT);
		struct error err = ERROR_INIT;

		if (io_read_file(e->path, &file, &err) < 0)
			fail_msg("%s", err.message);
		assert_int_equal(embed_len(e), file.len);
		assert_memory_equal(e->data, file.data, file.len + 1);
		assert_ptr_equal(embed_find(e->path), e);
	}
	assert_true(count > 0);
}

static void test_absent(void **state)
{
	(void)state;
	assert_null(embed_find("absent"));
	assert_null(embed_find(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_matches_files),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests_name("base embed", tests, NULL, NULL);
}
