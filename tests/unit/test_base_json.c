/*
 * Strict JSON: what is refused that cJSON lets pass, exact numbers, large objects, and printing
 * back.
 */
#include "base/json.h"

#include "base/mem.h"
#include "tests/unit/test_moment.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct json *parse(const char *text, unsigned flags)
{
	struct error err = ERROR_INIT;
	struct json *value = json_parse(text, strlen(text), flags, &err);

	if (!value)
		fail_msg("%s: %s", text, err.message);
	return value;
}

static void assert_prints(struct json *value, const char *want)
{
	cleanup_json struct json *owned = value;
	cleanup_free char *text = json_print(owned);

	assert_string_equal(text, want);
}

static void test_getters(void **state)
{
	cleanup_json struct json *o = parse("{\"s\":\"x\",\"n\":1.5,\"i\":-7,\"b\":true,"
					    "\"z\":null,\"a\":[1,2],\"S\":0}",
					    0);

	(void)state;
	assert_string_equal(json_get_string(o, "s"), "x");
	assert_null(json_get_string(o, "n"));
	assert_null(json_get_string(o, "absent"));
	assert_true(json_get_number(o, "n", 0) == 1.5);
	assert_int_equal(json_get_int(o, "i", 0), -7);
	assert_int_equal(json_get_int(o, "n", 99), 99); /* no whole number */
	assert_int_equal(json_get_int(o, "s", 99), 99);
	assert_true(json_get_bool(o, "b", false));
	assert_true(json_get_bool(o, "i", true));
	assert_int_equal(json_type(json_get(o, "z")), JSON_NULL);
	assert_int_equal(json_count(json_get(o, "a")), 2);
	assert_int_equal(json_count(json_get(o, "s")), 0);
	assert_int_equal(json_get_int(o, "S", 99), 0); /* not "s" */
	assert_null(json_get(json_get(o, "a"), "s"));
	assert_string_equal(json_type_name(JSON_BOOL), "boolean");
}

static void test_null_pointers(void **state)
{
	(void)state;
	assert_int_equal(json_type(NULL), JSON_NULL);
	assert_null(json_get(NULL, "a"));
	assert_null(json_first(NULL));
	assert_null(json_next(NULL));
	assert_null(json_key(NULL));
	assert_null(json_string(NULL));
	assert_null(json_copy(NULL));
	assert_int_equal(json_count(NULL), 0);
	assert_int_equal(json_int(NULL, 4), 4);
	assert_true(json_equal(NULL, NULL));
	json_free(NULL);
}

static void test_iteration(void **state)
{
	cleanup_json struct json *o = parse("{\"a\":1,\"b\":[true],\"c\":{}}", 0);
	char keys[8] = "";

	(void)state;
	for (struct json *child = json_first(o); child; child = json_next(child))
		strcat(keys, json_key(child));
	assert_string_equal(keys, "abc");
	assert_null(json_key(json_first(json_get(o, "b"))));
	assert_null(json_first(json_get(o, "c")));
}

static void test_whole_number_bounds(void **state)
{
	static const int64_t exact[] = { 0,
					 -1,
					 999999999999999,
					 1000000000000000,
					 9007199254740991,
					 9007199254740992,
					 9007199254740993,
					 -9007199254740991,
					 -9007199254740992,
					 -9007199254740993,
					 INT64_MAX,
					 INT64_MIN };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(exact); i++) {
		cleanup_free char *want = mem_printf("%lld", (long long)exact[i]);
		struct json *value = json_new_int(exact[i]);

		assert_int_equal(json_type(value), JSON_NUMBER);
		assert_true(json_int(value, 5) == exact[i]);
		assert_prints(value, want);
	}
}

static void test_big_as_string(void **state)
{
	cleanup_json struct json *o = parse("{\"n\\\"1\":9007199254740993,"
					    "\"s\":\"-9007199254740993\\\\\","
					    "\"m\":[-9007199254740993,9007199254740992,1.5e3],"
					    "\"9007199254740993\":9007199254740993.5}",
					    JSON_BIG_AS_STRING);
	static const char twice[] = "[9007199254740993,{\"a\":1,\"a\":2}]";
	cleanup_json struct json *top = parse("123456789012345678901234567890", JSON_BIG_AS_STRING);
	struct error err = ERROR_INIT;

	(void)state;
	assert_string_equal(json_get_string(o, "n\"1"), "9007199254740993");
	assert_string_equal(json_get_string(o, "s"), "-9007199254740993\\");
	assert_string_equal(json_string(json_first(json_get(o, "m"))), "-9007199254740993");
	assert_int_equal(json_int(json_next(json_first(json_get(o, "m"))), 0), 9007199254740992);
	assert_int_equal(json_type(json_get(o, "9007199254740993")), JSON_NUMBER);
	assert_string_equal(json_string(top), "123456789012345678901234567890");
	/* quoting does not move what an error points at */
	assert_null(json_parse(twice, sizeof(twice) - 1, JSON_BIG_AS_STRING, &err));
	assert_non_null(strstr(err.message, "column 26"));
}

/* An escaped backslash before u0000 is no escaped NUL. */
static void test_nul_as_fffd(void **state)
{
	cleanup_json struct json *o =
		parse("{\"\\u0000\":\"a\\u0000\\\\u0000\\\\\\u0000\"}", JSON_NUL_AS_FFFD);
	struct error err = ERROR_INIT;

	(void)state;
	assert_string_equal(json_key(json_first(o)), "\xef\xbf\xbd");
	assert_string_equal(json_string(json_first(o)), "a\xef\xbf\xbd\\u0000\\\xef\xbf\xbd");
	assert_null(json_parse("\"\\u0000", 7, JSON_NUL_AS_FFFD, &err));
	assert_null(json_parse("\"\\u000", 6, JSON_NUL_AS_FFFD, &err));
	assert_null(json_parse("\"\\ud800\\u0000\"", 14, JSON_NUL_AS_FFFD, &err));
}

static void test_doubles_survive(void **state)
{
	static const double numbers[] = { 0.1 + 0.2,
					  1.0 / 3,
					  1e21,
					  1e-7,
					  5e-324,
					  -0.0,
					  1.7976931348623157e308,
					  9007199254740994.0,
					  -17029735767160082.0,
					  1e16,
					  123456789.123456789 };
	struct error err = ERROR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		cleanup_json struct json *value = json_new_number(numbers[i]);
		cleanup_free char *text = json_print(value);
		cleanup_json struct json *again = json_parse(text, strlen(text), 0, &err);

		assert_non_null(again);
		double got = json_number(again, 1);
		assert_memory_equal(&got, &numbers[i], sizeof(got)); /* -0 too */
	}
	assert_prints(json_new_number((double)NAN), "null");
	assert_prints(json_new_number((double)-INFINITY), "null");
}

static void test_strings(void **state)
{
	(void)state;
	assert_prints(json_new_string(NULL), "null");
	assert_prints(json_new_string("\"\\/\b\f\n\r\t\x01\x7f"),
		      "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\x7f\"");
	assert_prints(json_new_bytes("a\0\"b\0", 5), "\"a\\u0000\\\"b\\u0000\"");
	assert_prints(json_new_bytes("\0", 1), "\"\\u0000\"");
	assert_prints(json_new_bytes("\xff\0\xc3\xa9", 4), "\"\xef\xbf\xbd\\u0000\xc3\xa9\"");
	assert_prints(json_new_bytes(NULL, 0), "\"\"");
	assert_prints(json_new_bytes("\xed\xa0\x80", 3),
		      "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void test_string_with_nul_has_its_type(void **state)
{
	cleanup_json struct json *value = json_new_bytes("a\0b", 3);
	cleanup_json struct json *copy = json_copy(value);

	(void)state;
	assert_int_equal(json_type(value), JSON_STRING);
	assert_null(json_string(value));
	assert_true(json_equal(value, copy));
}

static void test_set_append_remove(void **state)
{
	struct json *o = json_object(), *a = json_array();

	(void)state;
	json_set_int(o, "a", 1);
	json_set_string(o, "a", "again"); /* the first and only */
	json_set_bool(o, "b", true);
	json_set_number(o, "c", 0.5);
	json_set_null(o, "b");
	json_set_bytes(o, "quote\"", "x", 1);
	json_append(a, json_new_int(1));
	json_append(a, json_new_null());
	json_set(o, "A", a);
	json_remove(o, "c");
	json_remove(o, "absent");
	assert_prints(o, "{\"a\":\"again\",\"b\":null,\"quote\\\"\":\"x\",\"A\":[1,null]}");
}

static void assert_equality(const char *left, const char *right, bool want)
{
	cleanup_json struct json *a = parse(left, 0);
	cleanup_json struct json *b = parse(right, 0);

	if (json_equal(a, b) != want || json_equal(b, a) != want)
		fail_msg("%s and %s", left, right);
}

static void test_equal(void **state)
{
	(void)state;
	assert_equality("{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1.0}", true);
	assert_equality("{\"a\":1}", "{\"A\":1}", false);
	assert_equality("{\"a\":1}", "{\"a\":1,\"b\":1}", false);
	assert_equality("{\"a\":1,\"b\":1}", "{\"a\":1,\"c\":1}", false);
	assert_equality("[1,2]", "[2,1]", false);
	assert_equality("[1]", "[1,1]", false);
	assert_equality("[]", "{}", false);
	assert_equality("1", "true", false);
	assert_equality("\"1\"", "1", false);
	assert_equality("0.3", "0.30000000000000004", false);
	assert_equality("9007199254740991", "9007199254740992", false);
	assert_equality("false", "null", false);
}

/* cJSON_Compare doubles its work on each level: 2^120 here. */
static void test_equal_is_not_exponential(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (int i = 0; i < 120; i++)
		buf_addstr(&text, "{\"a\":");
	buf_addch(&text, '1');
	for (int i = 0; i < 120; i++)
		buf_addch(&text, '}');
	cleanup_json struct json *a = parse(text.data, 0);
	cleanup_json struct json *b = json_copy(a);
	assert_true(json_equal(a, b));
}

static void test_many_members_are_not_quadratic(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(16 << 20);
	int64_t start = clock_cpu_us();

	(void)state;
	buf_addch(&text, '{');
	for (int i = 0; i < 200000; i++)
		buf_addf(&text, "%s\"%d\":0", i ? "," : "", i);
	buf_addch(&text, '}');
	cleanup_json struct json *a = parse(text.data, 0);
	cleanup_json struct json *b = json_copy(a);
	assert_true(json_equal(a, b));
	ASSERT_MOMENT("an object", start);
}

static int64_t member_at(const struct json *object, int n)
{
	char key[16];

	snprintf(key, sizeof(key), "%d", n);
	return json_get_int(object, key, -1);
}

static void set_member(struct json *object, int n, int64_t value)
{
	char key[16];

	snprintf(key, sizeof(key), "%d", n);
	json_set_int(object, key, value);
}

#define MANY 200000

static void test_many_members_are_found(void **state)
{
	cleanup_json struct json *o = json_object();
	int64_t start = clock_cpu_us();

	(void)state;
	for (int i = 0; i < MANY; i++)
		set_member(o, i, i);
	for (int i = 0; i < MANY; i += 2)
		set_member(o, i, -i);
	cleanup_json struct json *copy = json_copy(o);
	assert_true(json_equal(o, copy));
	for (int i = MANY - 1; i >= 0; i--) {
		assert_int_equal(member_at(o, i), i % 2 ? i : -i);
		assert_int_equal(member_at(copy, i), i % 2 ? i : -i);
	}
	assert_int_equal(json_count(o), MANY);
	assert_int_equal(member_at(o, MANY), -1);
	ASSERT_MOMENT("finding them", start);
}

/* Every size around those where the way of looking changes. */
static void test_members_come_and_go(void **state)
{
	(void)state;
	for (int size = 1; size < 140; size++) {
		cleanup_json struct json *o = json_object();
		char key[16];

		for (int i = 0; i < size; i++)
			set_member(o, i, i);
		assert_int_equal(member_at(o, size), -1);
		snprintf(key, sizeof(key), "%d", size / 2);
		json_remove(o, key);
		for (int i = 0; i < size; i++)
			assert_int_equal(member_at(o, i), i == size / 2 ? -1 : i);
		set_member(o, size / 2, 7);
		set_member(o, size - 1, 8);
		set_member(o, size, 9);
		for (int i = 0; i < size - 1; i++)
			assert_int_equal(member_at(o, i), i == size / 2 ? 7 : i);
		assert_int_equal(member_at(o, size - 1), 8);
		assert_int_equal(member_at(o, size), 9);
		assert_int_equal(json_count(o), size + 1);
	}
}

static void test_first_of_many_twins(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(10000);

	(void)state;
	for (int i = 0; i < 100; i++)
		buf_addf(&text, "%c\"%d\":%d", i ? ',' : '{', i % 50, i);
	buf_addch(&text, '}');
	cleanup_json struct json *o = parse(text.data, JSON_FIRST_OF_TWINS);
	for (int i = 0; i < 50; i++)
		assert_int_equal(member_at(o, i), i);
}

static void test_duplicate_among_many(void **state)
{
	(void)state;
	for (int members = 2; members < 40; members++) {
		for (int first = 0; first < members - 1; first++) {
			cleanup_buf struct buf text = BUF_INIT(10000);

			buf_addch(&text, '{');
			for (int i = 0; i < members - 1; i++)
				buf_addf(&text, "\"k%d\":%d,\n", i, i);
			buf_addf(&text, "\"k%d\":0}", first);
			struct error err;
			error_clear(&err);
			assert_null(json_parse(text.data, text.len, 0, &err));
			buf_clear(&text);
			buf_addf(&text, "JSON line %d column 1: key \"k%d\" given twice", members,
				 first);
			assert_string_equal(err.message, text.data);
		}
	}
}

/* Reads beyond the end, crashes and leaks show under the sanitizers. */
static void test_every_cut_and_every_flip(void **state)
{
	static const char text[] = "{\"a\\u00e9\":[1,-2.5e+3,true,false,null,"
				   "\"\\ud83d\\ude00\xe2\x82\xac\"],"
				   "\"b\":{\"c\":\"\\n\"},\"d\":9007199254740993}";
	size_t len = sizeof(text) - 1, i;
	struct error err = ERROR_INIT;

	(void)state;
	for (i = 0; i < len; i++) {
		cleanup_free char *cut = mem_alloc(i);

		memcpy(cut, text, i);
		assert_null(json_parse(cut, i, JSON_BIG_AS_STRING, &err));
		assert_int_equal(strncmp(err.message, "JSON line 1 column ", 19), 0);
	}
	for (i = 0; i < len * 8; i++) {
		cleanup_free char *flip = mem_alloc(len);

		memcpy(flip, text, len);
		int bit = 1 << (i % 8);
		flip[i / 8] = (char)(flip[i / 8] ^ bit);
		json_free(json_parse(flip, len, JSON_BIG_AS_STRING, &err));
		assert_null(strstr(err.message, "cannot be read"));
	}
}

/* Strings are read eight bytes at a time: what ends or breaks one is seen at each place. */
static void test_special_bytes_at_each_place(void **state)
{
	static const struct {
		const char *bytes;
		bool good;
	} cases[] = { { "\\n", true },	    { "\\\"", true },	  { "\\u00e9", true },
		      { "\xc3\xa9", true }, { "\x7f", true },	  { "!#[]", true },
		      { "\n", false },	    { "\x1f", false },	  { "\\x", false },
		      { "\"", false },	    { "\\ud800", false }, { "\xc3", false } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int before = 0; before < 20; before++) {
			for (int behind = 0; behind < 20; behind++) {
				struct error err = ERROR_INIT;
				cleanup_free char *text =
					mem_printf("[\"%.*s%s%.*s\"]", before,
						   "aaaaaaaaaaaaaaaaaaaa", cases[i].bytes, behind,
						   "bbbbbbbbbbbbbbbbbbbb");
				cleanup_json struct json *value =
					json_parse(text, strlen(text), 0, &err);

				if ((value != NULL) != cases[i].good)
					fail_msg("%s: %s", text, err.message);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_getters),
		cmocka_unit_test(test_null_pointers),
		cmocka_unit_test(test_iteration),
		cmocka_unit_test(test_whole_number_bounds),
		cmocka_unit_test(test_big_as_string),
		cmocka_unit_test(test_nul_as_fffd),
		cmocka_unit_test(test_doubles_survive),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_special_bytes_at_each_place),
		cmocka_unit_test(test_string_with_nul_has_its_type),
		cmocka_unit_test(test_set_append_remove),
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_equal_is_not_exponential),
		cmocka_unit_test(test_many_members_are_not_quadratic),
		cmocka_unit_test(test_many_members_are_found),
		cmocka_unit_test(test_members_come_and_go),
		cmocka_unit_test(test_first_of_many_twins),
		cmocka_unit_test(test_duplicate_among_many),
		cmocka_unit_test(test_every_cut_and_every_flip),
	};

	return cmocka_run_group_tests_name("base json", tests, NULL, NULL);
}
