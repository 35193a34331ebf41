/*
 * Two texts side by side.
 * How one is shown to a person, in colours, is not shown here.
 */
#include "base/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define LINES_MAX 20
#define BYTES_MAX 8

static void expect(const char *a, const char *b, const char *want)
{
	const struct diff_bounds bounds = { LINES_MAX, BYTES_MAX };
	cleanup_buf struct buf out = BUF_INIT(4096);

	diff_unified(a, strlen(a), b, strlen(b), &bounds, &out);
	assert_string_equal(out.len ? out.data : "", want);
}

static void test_hunks(void **state)
{
	(void)state;
	expect("", "", "");
	expect("a\nb\n", "a\nb\n", "");
	expect("a\nb\nc\n", "a\nx\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n");
	expect("", "a\n", "@@ -0,0 +1,1 @@\n+a\n");
	expect("a\n", "", "@@ -1,1 +0,0 @@\n-a\n");
	expect("a", "b", "@@ -1,1 +1,1 @@\n-a\n+b\n");
	expect("b\na\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-b\n a\n+b\n");
	expect("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "x\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\ny\n",
	       "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+y\n");
}

static void parts_at(const char *a, const char *b, size_t at, size_t start, size_t line)
{
	struct diff_place p = diff_place(a, strlen(a), b, strlen(b)),
			  q = diff_place(b, strlen(b), a, strlen(a));

	assert_int_equal(p.at, at);
	assert_int_equal(p.start, start);
	assert_int_equal(p.line, line);
	assert_memory_equal(&p, &q, sizeof(p));
}

static void test_place(void **state)
{
	(void)state;
	parts_at("", "", 0, 0, 1);
	parts_at("a", "", 0, 0, 1);
	parts_at("ab", "ac", 1, 0, 1);
	parts_at("a\nbc\n", "a\nbd\n", 3, 2, 2);
	parts_at("a\n", "a", 1, 0, 1);
	parts_at("a\n", "a\nb", 2, 2, 2);
	parts_at("a\nb\n", "a\nb\n", 4, 4, 3);
}

static void test_bounds(void **state)
{
	static const char long_line[] = "0123456789\n";
	char many[200];

	(void)state;
	expect(long_line, "0\n", "@@ -1,1 +1,1 @@\n-01234567...\n+0\n");
	memset(many, '\n', sizeof(many) - 1);
	many[sizeof(many) - 1] = '\0';
	{
		const struct diff_bounds bounds = { LINES_MAX, BYTES_MAX };
		cleanup_buf struct buf out = BUF_INIT(4096);
		size_t lines = 0;

		diff_unified("x", 1, many, strlen(many), &bounds, &out);
		for (size_t i = 0; i < out.len; i++)
			lines += out.data[i] == '\n';
		assert_int_equal(lines, LINES_MAX);
		assert_non_null(strstr(out.data, "... 182 more lines differ\n"));
	}
}

/* Too much for a table: all of it goes and comes, and it takes no time. */
static void test_large(void **state)
{
	const struct diff_bounds bounds = { 4, BYTES_MAX };
	cleanup_buf struct buf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20), out = BUF_INIT(4096);

	(void)state;
	for (int i = 0; i < 20000; i++) {
		buf_addf(&a, "a%d\n", i);
		buf_addf(&b, "b%d\n", i);
	}
	diff_unified(a.data, a.len, b.data, b.len, &bounds, &out);
	assert_string_equal(out.data,
			    "@@ -1,20000 +1,20000 @@\n-a0\n-a1\n... 39998 more lines differ\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hunks),
		cmocka_unit_test(test_place),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
