/*
 * tests/cases/json: each accept/NAME.json parses and prints as accept/NAME.want;
 * each reject/NAME.json fails with a message that contains reject/NAME.want.
 */
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CASES "tests/cases/json/"

static void read_whole(const char *path, struct buf *out)
{
	struct error err = ERROR_INIT;

	if (io_read_file(path, out, &err) < 0)
		fail_msg("%s", err.message);
}

/* A copy of exactly the right size, so that a sanitizer sees one byte too many read. */
static struct json *parse_exact(const struct buf *text, struct error *err)
{
	cleanup_free char *exact = mem_alloc(text->len);

	memcpy(exact, text->data, text->len);
	return json_parse(exact, text->len, 0, err);
}

static void check_accept(const char *name, const struct buf *text, const struct buf *want)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *value = parse_exact(text, &err);

	if (!value)
		fail_msg("%s: %s", name, err.message);
	cleanup_free char *printed = json_print(value);
	if (strcmp(printed, want->data))
		fail_msg("%s: printed %s, want %s", name, printed, want->data);
	cleanup_json struct json *again = json_parse(printed, strlen(printed), 0, &err);
	assert_true(json_equal(value, again));
}

static void check_reject(const char *name, const struct buf *text, const struct buf *want)
{
	struct error err = ERROR_INIT;
	struct json *value = parse_exact(text, &err);

	if (value)
		fail_msg("%s: accepted", name);
	assert_int_equal(err.kind, ERR_FAILED);
	if (!strstr(err.message, want->data) || !strstr(err.message, "line "))
		fail_msg("%s: \"%s\" lacks \"%s\"", name, err.message, want->data);
}

static size_t each_case(const char *pattern,
			void (*check)(const char *, const struct buf *, const struct buf *))
{
	glob_t found;

	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	size_t count = found.gl_pathc;
	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf text = BUF_INIT(1 << 20);
		cleanup_buf struct buf want = BUF_INIT(1 << 20);
		const char *path = found.gl_pathv[i];
		cleanup_free char *beside = mem_printf("%.*s.want", (int)strlen(path) - 5, path);

		read_whole(path, &text);
		read_whole(beside, &want);
		check(path, &text, &want);
	}
	globfree(&found);
	return count;
}

static void test_accept(void **state)
{
	(void)state;
	assert_true(each_case(CASES "accept/*.json", check_accept) >= 20);
}

static void test_reject(void **state)
{
	(void)state;
	assert_true(each_case(CASES "reject/*.json", check_reject) >= 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_reject),
	};

	return cmocka_run_group_tests_name("json cases", tests, NULL, NULL);
}
