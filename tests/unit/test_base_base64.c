/*
 * Base64: RFC 4648's own examples both ways, and what is none. What is in it is for its callers to
 * look at, and not shown here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base64.h"

#include <string.h>

static const struct {
	const char *bytes, *text;
} examples[] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xff\xfe\xfd", "//79" },
};

static void test_examples(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(*examples); i++) {
		struct buf out = BUF_INIT(100), back = BUF_INIT(100);

		assert_int_equal(base64_encode(&out, examples[i].bytes, strlen(examples[i].bytes)),
				 0);
		assert_string_equal(out.data, examples[i].text);
		assert_int_equal(base64_decode(&back, out.data, out.len), 0);
		assert_string_equal(back.data, examples[i].bytes);
		buf_release(&out);
		buf_release(&back);
	}
}

static void test_what_is_read_all_the_same(void **state)
{
	struct buf out = BUF_INIT(100);

	(void)state;
	assert_int_equal(base64_decode(&out, "Zm9v\r\nYg", 8), 0);
	assert_string_equal(out.data, "foob");
	buf_release(&out);
}

static void test_what_is_none(void **state)
{
	static const char *const bad[] = { "Z", "Zm9vY", "Zm9v!", "Zg==Zg==", "Zh", "Zm9", "-_-_" };
	struct buf out = BUF_INIT(100);

	(void)state;
	buf_addstr(&out, "before");
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(base64_decode(&out, bad[i], strlen(bad[i])), -1);
		assert_string_equal(out.data, "before");
	}
	assert_int_equal(base64_decode(&out, "Zg\0Zg", 5), -1);
	buf_release(&out);
}

static void test_the_ceiling(void **state)
{
	struct buf out = BUF_INIT(3);

	(void)state;
	assert_int_equal(base64_encode(&out, "f", 1), -1);
	assert_int_equal(base64_decode(&out, "Zm9vYg==", 8), -1);
	assert_int_equal(out.len, 0);
	assert_int_equal(base64_decode(&out, "Zm9v", 4), 0);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_what_is_read_all_the_same),
		cmocka_unit_test(test_what_is_none),
		cmocka_unit_test(test_the_ceiling),
	};

	return cmocka_run_group_tests_name("base_base64", tests, NULL, NULL);
}
