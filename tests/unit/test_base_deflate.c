/*
 * gzip: what its own program makes, cut and changed at each byte, and what unpacks to too much. Any
 * other bytes are tests/fuzz/gunzip.c's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/deflate.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST ((size_t)4 << 20)

/* What `gzip OPTIONS` makes of what a command prints. */
static struct buf packed(const char *command)
{
	struct buf out = BUF_INIT(MOST);
	FILE *f = popen(command, "r");
	size_t n;

	assert_non_null(f);
	while ((n = fread(buf_room(&out, 4096), 1, 4096, f)) > 0)
		buf_grew(&out, n);
	assert_int_equal(pclose(f), 0);
	return out;
}

static void test_whole(void **state)
{
	static const char *const commands[] = { "", "printf x", "seq 20000",
						"head -c 300000 /dev/zero",
						"seq 3000 | md5sum -; seq 90 | sha512sum" };
	static const char *const ways[] = { "-1", "-9", "-n" };

	(void)state;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
			cleanup_free char *plain =
				mem_printf("{ %s; true; }", *commands[i] ? commands[i] : "true");
			cleanup_free char *zipped = mem_printf("%s | gzip %s", plain, ways[w]);
			struct buf want = packed(plain), file = packed(zipped);
			struct buf got = BUF_INIT(MOST);
			struct error err = ERROR_INIT;

			assert_int_equal(gunzip(file.data, file.len, &got, &err), 0);
			assert_int_equal(got.len, want.len);
			assert_memory_equal(got.data, want.data, want.len);
			buf_release(&want);
			buf_release(&file);
			buf_release(&got);
		}
}

/* Stored and coded blocks, two files in one. */
static void test_stored(void **state)
{
	static const unsigned char stored[] = { 0x1f, 0x8b, 8,	  0,	0,    0,    0,	 0,   0,
						3,    1,    3,	  0,	0xfc, 0xff, 'a', 'b', 'c',
						0xc2, 0x41, 0x24, 0x35, 3,    0,    0,	 0 };
	struct buf got = BUF_INIT(100);
	struct error err = ERROR_INIT;

	(void)state;
	char two[2 * sizeof(stored)];
	memcpy(two, stored, sizeof(stored));
	memcpy(two + sizeof(stored), stored, sizeof(stored));
	assert_int_equal(gunzip(two, sizeof(two), &got, &err), 0);
	assert_string_equal(got.data, "abcabc");
	buf_release(&got);
}

static void test_broken(void **state)
{
	struct buf file = packed("seq 300 | gzip -n");

	(void)state;
	for (size_t i = 0; i < file.len; i++) {
		struct buf got = BUF_INIT(MOST);
		struct error err = ERROR_INIT;

		assert_int_equal(gunzip(file.data, i, &got, &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
		buf_clear(&got);
		file.data[i] ^= 0x15;
		if (i >= 10) /* of the head much may be anything */
			assert_int_equal(gunzip(file.data, file.len, &got, &err), -1);
		file.data[i] ^= 0x15;
		buf_release(&got);
	}
	buf_release(&file);
}

static void test_bomb(void **state)
{
	struct buf file = packed("head -c 5000000 /dev/zero | gzip"), got = BUF_INIT(MOST);
	struct error err = ERROR_INIT;

	(void)state;
	assert_true(file.len < 10000);
	assert_int_equal(gunzip(file.data, file.len, &got, &err), -1);
	assert_int_equal(err.kind, ERR_BUDGET);
	assert_true(got.len <= MOST);
	buf_release(&file);
	buf_release(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_stored),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
