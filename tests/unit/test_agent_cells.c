/* The cells of a context read from a record that a stranger made. */
#include "agent/record/recorded.h"
#include "agent/record/recorded_cells.h"

#include "base/json.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int load(const char *cell, struct context *ret, struct error *err)
{
	struct recording r = { .row.id = "R" };
	char text[400];
	cleanup_json struct json *data = NULL;

	snprintf(text, sizeof(text), "{\"context\": \"c\", \"cells\": [{%s}]}", cell);
	data = json_parse(text, strlen(text), 0, err);
	assert_non_null(data);
	return context_load(&r, data, ret, err);
}

static void test_a_cell(void **state)
{
	struct error err = ERROR_INIT;
	struct context c;

	(void)state;
	assert_int_equal(
		load("\"id\": \"a\", \"language\": \"python\", \"code\": \"x = 1\", \"took_ms\": 5",
		     &c, &err),
		0);
	assert_int_equal(c.count, 1);
	assert_int_equal(context_took_ms(&c, "python"), 5);
	context_release(&c);
}

static void test_cells_that_are_none(void **state)
{
	static const struct {
		const char *cell, *what;
	} rows[] = {
		{ "\"language\": \"python\", \"code\": \"\"", "a cell without an id" },
		{ "\"id\": 1, \"language\": \"python\", \"code\": \"\"", "a cell without an id" },
		{ "\"id\": \"a\", \"code\": \"\"", "a cell in" },
		{ "\"id\": \"a\", \"language\": \"python\", \"code\": \"\", \"took_ms\": -1",
		  "impossible length" },
		{ "\"id\": \"a\", \"language\": \"python\", \"code\": \"\", \"took_ms\": "
		  "9007199254740991",
		  "impossible length" },
		{ "\"id\": \"a\", \"language\": \"python\", \"code\": \"\", \"files\": [1]",
		  "a file without a name" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct error err = ERROR_INIT;
		struct context c;

		assert_int_equal(load(rows[i].cell, &c, &err), -1);
		assert_non_null(strstr(err.message, rows[i].what));
		context_release(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cell),
		cmocka_unit_test(test_cells_that_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
