/*
 * UTF-8 from outside: checked, mended, measured, and made harmless for a terminal. What reaches a
 * terminal of it is test_agent_term.c's.
 */
#include "base/utf8.h"

#include "base/mem.h"
#include "tests/unit/test_moment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FFFD	   "\xef\xbf\xbd"
#define EIGHT_FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD

static void test_every_code_point(void **state)
{
	(void)state;
	for (uint32_t point = 0; point <= 0x1fffff; point++) {
		char four[4] = { (char)(0xf0 | (point >> 18)), (char)(0x80 | ((point >> 12) & 63)),
				 (char)(0x80 | ((point >> 6) & 63)), (char)(0x80 | (point & 63)) };
		char three[3] = { (char)(0xe0 | (point >> 12)), four[2], four[3] };
		char two[2] = { (char)(0xc0 | (point >> 6)), four[3] };

		assert_int_equal(utf8_valid(four, 4), point >= 0x10000 && point <= 0x10ffff);
		if (point < 0x10000)
			assert_int_equal(utf8_valid(three, 3),
					 point >= 0x800 && (point < 0xd800 || point > 0xdfff));
		if (point < 0x800)
			assert_int_equal(utf8_valid(two, 2), point >= 0x80);
	}
}

static void test_valid_prefix(void **state)
{
	static const char text[] = "0123456789abcdef\xe2\x82\xac\xff";

	(void)state;
	assert_int_equal(utf8_valid_prefix(NULL, 0), 0);
	assert_int_equal(utf8_valid_prefix(text, 20), 19);
	for (size_t cut = 0; cut <= 19; cut++)
		assert_int_equal(utf8_valid_prefix(text, cut), cut == 17 || cut == 18 ? 16 : cut);
	assert_int_equal(utf8_valid_prefix("a\0b\x80", 4), 3);
	assert_false(utf8_valid("\xf8\x88\x80\x80\x80", 5));
	assert_false(utf8_valid("\xfe", 1));
}

static void test_unfinished(void **state)
{
	static const struct {
		const char *bytes;
		size_t want;
	} rows[] = {
		{ "", 0 },
		{ "abc", 0 },
		{ "\xc3", 1 },
		{ "a\xc3", 1 },
		{ "\xc3\xa4", 0 },
		{ "\xe2\x82", 2 },
		{ "\xe2\x82\xac", 0 },
		{ "\xf0\x9f\x98", 3 },
		{ "\xf0\x9f\x98\x80", 0 },
		{ "\x80", 0 },
		{ "\x80\x80\x80\x80", 0 },
		{ "\xe0\x80", 0 },
		{ "\xed\xa0", 0 },
		{ "\xff", 0 },
		{ "\xc0", 0 },
		{ "\xf4\x90", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(utf8_unfinished(rows[i].bytes, strlen(rows[i].bytes)),
				 rows[i].want);
}

/* In pieces of every length: no piece ends within a character, and nothing is lost. */
static void test_join(void **state)
{
	static const char text[] = "a\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xff\xe2\x82";
	const size_t len = sizeof(text) - 1;

	(void)state;
	for (size_t step = 1; step <= len; step++) {
		struct utf8_begun begun = { .len = 0 };
		cleanup_buf struct buf all = BUF_INIT(100), full = BUF_INIT(1);

		for (size_t at = 0; at < len; at += step) {
			cleanup_buf struct buf piece = BUF_INIT(100);

			assert_int_equal(utf8_join(&begun, &piece, text + at,
						   at + step < len ? step : len - at),
					 0);
			assert_int_equal(utf8_unfinished(piece.data, piece.len), 0);
			buf_add(&all, piece.data, piece.len);
		}
		assert_int_equal(begun.len, 2);
		buf_add(&all, begun.bytes, begun.len);
		assert_string_equal(all.data, text);
		assert_int_equal(utf8_join(&begun, &full, "ab", 2), -1);
		assert_int_equal(begun.len, 2);
	}
}

static void assert_repairs(const char *in, const char *want)
{
	cleanup_buf struct buf out = BUF_INIT(1000);

	assert_int_equal(utf8_repair(&out, in, strlen(in)), 0);
	assert_string_equal(out.data, want);
	assert_true(utf8_valid(out.data, out.len));
}

/* The Unicode Standard, tables 3-8 to 3-11. */
static void test_repair(void **state)
{
	cleanup_buf struct buf full = BUF_INIT(3);

	(void)state;
	assert_repairs("plain \xc3\xa9", "plain \xc3\xa9");
	assert_repairs("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41", EIGHT_FFFD "A");
	assert_repairs("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41", EIGHT_FFFD "A");
	assert_repairs("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42",
		       FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B");
	assert_repairs("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", FFFD FFFD FFFD FFFD "A");
	assert_repairs("x\xe2\x82", "x" FFFD);
	assert_int_equal(utf8_repair(&full, "\xff\xff", 2), -1);
	assert_true(full.overflow);
}

static void assert_shows(const char *in, size_t len, const char *want)
{
	cleanup_buf struct buf out = BUF_INIT(1000);

	assert_int_equal(utf8_visible(&out, in, len), 0);
	assert_string_equal(out.data, want);
}

#define ASSERT_SHOWS(in, want) assert_shows(in, sizeof(in) - 1, want)

static void test_visible(void **state)
{
	(void)state;
	ASSERT_SHOWS("a\tb\n\xc3\xa9", "a\tb\n\xc3\xa9");
	ASSERT_SHOWS("\x1b[31m\r\a\b\x7f\0", "<1B>[31m<0D><07><08><7F><00>");
	ASSERT_SHOWS("\xc2\x9b"
		     "31m",
		     "<9B>31m"); /* CSI as a C1 control */
	ASSERT_SHOWS("\x9b\xff", "<9B><FF>");
	ASSERT_SHOWS("\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8", "<U+202E><U+2066><U+2028>");
	ASSERT_SHOWS("\xef\xbb\xbf\xe2\x80\x8b", "<U+FEFF><U+200B>");
	ASSERT_SHOWS("\xf3\xa0\x81\x81", "<U+E0041>");		      /* a tag: invisible text */
	ASSERT_SHOWS("\xef\xbf\xbe\xef\xbf\xbf", "<U+FFFE><U+FFFF>"); /* no characters */
	ASSERT_SHOWS("\xf0\x9f\xbf\xbe\xef\xb7\x90", "<U+1FFFE><U+FDD0>");
	ASSERT_SHOWS("\xef\xbf\xbd", "\xef\xbf\xbd");
	ASSERT_SHOWS("\xe2\x80\x8d\xf0\x9f\x98\x80", "\xe2\x80\x8d\xf0\x9f\x98\x80");
}

static void test_visible_lets_no_control_through(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(1 << 20);

	(void)state;
	for (int a = 0; a < 256; a++) {
		for (int b = 0; b < 256; b++) {
			char in[2];

			in[0] = (char)a;
			in[1] = (char)b;
			buf_clear(&out);
			assert_int_equal(utf8_visible(&out, in, 2), 0);
			assert_true(utf8_valid(out.data, out.len));
			for (size_t i = 0; i < out.len; i++) {
				unsigned char c = (unsigned char)out.data[i];

				assert_true(c >= 0x20 || c == '\n' || c == '\t');
				assert_true(c != 0x7f);
			}
			assert_null(memmem(out.data, out.len, "\xc2\x9b", 2));
		}
	}
}

static void assert_normalises(const char *in, const char *want)
{
	cleanup_buf struct buf out = BUF_INIT(1000);

	assert_int_equal(utf8_normalise(&out, in, strlen(in)), 0);
	assert_string_equal(out.data, want);
}

static void test_normalise(void **state)
{
	(void)state;
	assert_normalises("", "");
	assert_normalises("e\xcc\x81", "\xc3\xa9");
	assert_normalises("\xe2\x84\xab", "\xc3\x85");			/* Angstrom sign */
	assert_normalises("a\xcc\x81\xcc\xa3", "\xe1\xba\xa1\xcc\x81"); /* marks in order */
	assert_normalises("\xef\xac\x81", "\xef\xac\x81"); /* fi stays: NFC, not NFKC */
	assert_normalises("bad\xff"
			  "e\xcc\x81",
			  "bad\xff"
			  "e\xcc\x81");
}

/* utf8proc sorts marks by insertion: unguarded this takes minutes. */
static void test_normalise_many_marks(void **state)
{
	static const char *const marks[][2] = { { "\xcc\x81", "\xcc\x96" },
						{ "\xe0\xbd\xb3", "\xe0\xbd\xb3" } };
	int64_t start = clock_cpu_us();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		cleanup_buf struct buf in = BUF_INIT(1 << 20), out = BUF_INIT(1 << 22);

		for (size_t n = 0; n < 200000; n++)
			buf_addstr(&in, marks[i][n < 100000 ? 0 : 1]);
		assert_int_equal(utf8_normalise(&out, in.data, in.len), 0);
		assert_int_equal(out.len, in.len);
	}
	ASSERT_MOMENT("sorting marks", start);
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(utf8_width("abc", 3), 3);
	assert_int_equal(utf8_width("\xe6\xbc\xa2\xe5\xad\x97", 6), 4);
	assert_int_equal(utf8_width("e\xcc\x81", 3), 1);
	assert_int_equal(utf8_width("\xff\xfe", 2), 2);
	assert_int_equal(utf8_width("", 0), 0);
}

static void test_other(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *name;
	} cases[] = {
		{ "\xff\xfe{\0", 4, "UTF-16" },
		{ "\xfe\xff\0{", 4, "UTF-16" },
		{ "\xff\xfe\0\0{\0\0\0", 8, "UTF-32" },
		{ "\0\0\xfe\xff\0\0\0{", 8, "UTF-32" },
		{ "{\0\"\0", 4, "UTF-16LE" },
		{ "\0{\0\"", 4, "UTF-16BE" },
		{ "{\0\0\0", 4, "UTF-32LE" },
		{ "\0\0\0{", 4, "UTF-32BE" },
		{ "\xff\xfe", 2, "UTF-16" },
		{ "\xef\xbb\xbf{}", 5, NULL },
		{ "{}\0\0", 4, NULL },
		{ "\0\0\0\0", 4, NULL },
		{ "abc", 3, NULL },
		{ "", 0, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *name = utf8_other(cases[i].bytes, cases[i].len);

		assert_string_equal(name ? name : "none", cases[i].name ? cases[i].name : "none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_code_point),
		cmocka_unit_test(test_valid_prefix),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_repair),
		cmocka_unit_test(test_visible),
		cmocka_unit_test(test_visible_lets_no_control_through),
		cmocka_unit_test(test_normalise),
		cmocka_unit_test(test_normalise_many_marks),
		cmocka_unit_test(test_width),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests_name("base utf8", tests, NULL, NULL);
}
