/* Programs and their tests, decided in the real sandbox as for a user: the cases of
 * tests/cases/verdict, and the forgeries of the data set. Of all languages, or of one. */
#ifndef TEST_CASES_VERDICT_H
#define TEST_CASES_VERDICT_H

#include "tests/unit/test_cases.h"
#include "tests/unit/test_verifier_run.h"

#include "base/json.h"

#include <unistd.h>

static const char *only_language; /* NULL: all */
static size_t python_every = 1;	  /* of the programs in Python, in their order */

/* Asked once of each program. */
static bool is_run(const char *lang)
{
	static size_t python;

	if (!strcmp(lang, "python") && python++ % python_every)
		return false;
	return (!only_language || !strcmp(lang, only_language)) && has_interpreter(lang);
}

static bool run_case(const struct one_case *c)
{
	struct run run = { .name = c->name,
			   .solution = get(c, "program"),
			   .tests = get(c, "tests") };
	const char *want = get(c, "verdict");
	cleanup_free char *said = NULL;

	assert_non_null(want);
	if (!is_run(get(c, "lang")))
		return true;
	enum verdict verdict = run_verdict(get(c, "lang"), &run, &said);
	if (!strcmp(want, "no-pass") ? verdict != VERDICT_PASS :
				       !strcmp(want, verdict_name(verdict)))
		return says(c, said);
	print_error("%s: %s, expected %s: %s\n", c->name, verdict_name(verdict), want, said);
	return false;
}

static void test_verdict_cases(void **state)
{
	(void)state;
	run_folder("verdict", run_case);
}

/* Their tests are too weak to tell. */
static bool is_weak(const char *id)
{
	static const char *const weak[] = { "P09", "P16", "P18", "P19", "P20", "P21",
					    "P23", "P24", "J05", "J06", "B04", "B14" };

	for (size_t i = 0; i < ARRAY_SIZE(weak); i++)
		if (!strncmp(id, weak[i], 3))
			return true;
	return false;
}

static bool is_taken_for_a_pass(const struct json *row)
{
	struct run run = { .name = json_get_string(row, "id"),
			   .solution = json_get_string(row, "code"),
			   .tests = json_get_string(row, "tests") };
	const char *lang = json_get_string(row, "lang");
	cleanup_free char *said = NULL;

	if (!is_run(lang))
		return false;
	if (run_verdict(lang, &run, &said) != VERDICT_PASS)
		return false;
	/* What the clock says is one of 64 numbers, and right by chance at times. */
	if (strstr(run.name, "clock") && run_verdict(lang, &run, NULL) != VERDICT_PASS)
		return false;
	if (!is_weak(run.name))
		print_error("%s is taken for a pass: %s\n", run.name, said);
	return !is_weak(run.name);
}

static void test_forgeries_of_the_data_set(void **state)
{
	const char *folder = getenv("ASSAY_DATA") ? getenv("ASSAY_DATA") : "../shared/data";
	cleanup_free char *path = mem_printf("%s/forgeries.jsonl", folder);
	cleanup_buf struct buf text = BUF_INIT(1 << 20);
	struct error err = ERROR_INIT;
	size_t bad = 0, count = 0;

	(void)state;
	if (access(path, R_OK) < 0) {
		print_message("skipped: no %s (set ASSAY_DATA)\n", path);
		skip();
	}
	assert_int_equal(io_read_file(path, &text, &err), 0);
	char *nl;
	for (char *at = text.data; (nl = strchr(at, '\n')); at = nl + 1, count++) {
		cleanup_json struct json *row = json_parse(at, (size_t)(nl - at), 0, &err);

		assert_non_null(row);
		bad += is_taken_for_a_pass(row);
	}
	printf("%zu forgeries\n", count);
	assert_true(count > 0);
	assert_int_equal(bad, 0);
}

#endif
