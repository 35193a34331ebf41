/*
 * The cells of a context: read from a record that a stranger made, and recorded over and over.
 * Nothing runs here, and no log is opened: a record is JSON that the test has written.
 */
#include "agent/record/cells.h"
#include "agent/record/recording.h"
#include "agent/record/recorded_cells.h"

#include "base/json.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int load(const char *cell, struct context *ret, struct error *err)
{
	struct recording r = { .row.id = "R" };
	char text[400];

	snprintf(text, sizeof(text), "{\"context\": \"c\", \"cells\": [{%s}]}", cell);
	cleanup_json struct json *data = json_parse(text, strlen(text), 0, err);
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

	assert_int_equal(load("\"id\": \"a\", \"language\": \"python\", \"code\": \"x = 1\", "
			      "\"limits\": {\"memory_bytes\": 5000, \"processes\": 3}",
			      &c, &err),
			 0);
	struct sandbox_limits limits = { .memory_bytes = 4000, .processes = 7, .wall_ms = 1 };
	context_raise_limits(&c, "bash", &limits);
	assert_int_equal(limits.memory_bytes, 4000);
	context_raise_limits(&c, "python", &limits);
	assert_int_equal(limits.memory_bytes, 5000);
	assert_int_equal(limits.processes, 7);
	assert_int_equal(limits.wall_ms, 1);
	context_release(&c);

	/* A record may be anybody's: it is no reason to give a program the machine. */
	assert_int_equal(load("\"id\": \"a\", \"language\": \"python\", \"code\": \"x = 1\", "
			      "\"limits\": {\"memory_bytes\": 4503599627370496, "
			      "\"processes\": 1000000}",
			      &c, &err),
			 0);
	context_raise_limits(&c, "python", &limits);
	assert_true(limits.memory_bytes > 5000 && limits.memory_bytes < (int64_t)1 << 50);
	assert_int_equal(limits.processes, 4096);
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
		{ "\"id\": \"a\", \"language\": \"python\", \"code\": \"\", \"limits\": "
		  "{\"memory_bytes\": -1}",
		  "an impossible limit" },
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

/* --- recorded --- */

#define MANY (8 * CELLS_GROUP)

static void add(struct context *c, size_t number)
{
	struct context_cell *cell = mem_alloc(sizeof(*cell));

	*cell = (struct context_cell){ .id = mem_printf("r/%zu", number),
				       .lang = "python",
				       .code = mem_printf("x%zu = 1", number),
				       .there = mem_strdup(""),
				       .file_count = 1 };
	cell->len = strlen(cell->code);
	cell->files = mem_alloc(sizeof(*cell->files));
	cell->files[0] = (struct task_file){ .path = mem_printf("f%zu", number) };
	cell->inputs = mem_alloc(sizeof(*cell->inputs));
	cell->inputs[0] = (struct context_input){ .path = mem_printf("in%zu", number) };
	cell->input_count = 1;
	context_add(c, cell, false);
}

/* What a record says: the names of the blobs and what is in them. Caller frees; *ret_first is where
 * the first group's text is. */
static char *record(const struct context *c, const char **ret_first)
{
	struct audit_blob *blobs = mem_array(NULL, context_blobs(c), sizeof(*blobs));
	cleanup_cells_text struct cells_text text = { .names = NULL };
	cleanup_json struct json *data = json_object();
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t count = context_blobs(c);

	context_record(data, c, blobs, &text);
	assert_int_equal(context_blobs(c), count);
	for (size_t i = 0; i < count; i++) {
		buf_addf(&out, "%s: ", blobs[i].name);
		buf_add(&out, blobs[i].bytes, blobs[i].len);
	}
	*ret_first = count ? blobs[0].bytes : NULL;
	free(blobs);
	return buf_take(&out, NULL);
}

/* As it would be said of one that was never recorded. */
static void assert_as_new(const struct context *c)
{
	struct context plain = *c;
	const char *ignored;
	cleanup_free char *is = record(c, &ignored), *want = NULL;

	plain.texts = NULL;
	want = record(&plain, &ignored);
	assert_string_equal(is, want);
}

static void test_a_long_context_is_not_written_anew(void **state)
{
	struct context c = { .name = mem_strdup("c") };
	const char *first;

	(void)state;
	for (size_t i = 0; i < MANY; i++)
		add(&c, i);
	cleanup_free char *one = record(&c, &first), *two = NULL;
	add(&c, MANY);
	const char *again;
	two = record(&c, &again);
	assert_ptr_equal(first, again);
	assert_non_null(strstr(one, "x0 = 1"));
	assert_as_new(&c);

	/* What changes is written anew: an input that a later one had, too. */
	free(c.cells[c.count - 1].inputs[0].path);
	c.cells[c.count - 1].inputs[0].path = mem_strdup("in3");
	context_thin(&c);
	assert_int_equal(c.cells[3].input_count, 0);
	assert_as_new(&c);

	/* Cells that were taken back, with others in their place. */
	context_go_back(&c, CELLS_GROUP / 2, 0);
	for (size_t i = 0; i < MANY; i++)
		add(&c, 1000 + i);
	assert_as_new(&c);

	/* And a state that began anew. */
	c.from = 5;
	assert_as_new(&c);
	context_forget(&c, 5);
	assert_as_new(&c);
	context_release(&c);
}

static void test_full(void **state)
{
	(void)state;
	struct context c = { .name = NULL };
	struct context_cell *cell = mem_alloc(sizeof(*cell));

	assert_null(context_full_why(&c));
	cell->lang = "python";
	cell->stdin_len = CONTEXT_BYTES + 1;
	context_add(&c, cell, false);
	cleanup_free char *why = context_full_why(&c);
	assert_non_null(strstr(why, "64 MiB"));
	context_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cell),
		cmocka_unit_test(test_cells_that_are_none),
		cmocka_unit_test(test_a_long_context_is_not_written_anew),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
