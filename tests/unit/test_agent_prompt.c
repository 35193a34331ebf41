/*
 * Prompts of --prompts DIR: a file that is absent is assay's own, one that cannot be read is an
 * error. Each call of the I/O seam is made to fail in turn: none may end in assay's own prompt,
 * as if the user had given none.
 */
#include "test_io_faults.h"

#include "agent/prompt/prompt.h"
#include "base/json.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/assay-test-prompt.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	cleanup_free char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

static const struct prompt_value values[] = { { "mark", "M" } };

static char *fill(const char *name, struct error *err)
{
	return prompt_fill_text(&(struct prompt_source){ .dir = folder }, name, values,
				ARRAY_SIZE(values), err);
}

static struct json *texts(const char *dir, struct error *err)
{
	return prompt_texts(&(struct prompt_source){ .dir = dir }, err);
}

static void put(const char *name, const char *text)
{
	cleanup_free char *path = mem_printf("%s/%s.md", folder, name);
	struct error err = ERROR_INIT;

	assert_int_equal(io_replace_file(path, text, strlen(text), 0600, &err), 0);
}

static void test_absent_is_assays_own(void **state)
{
	struct error err = ERROR_INIT;
	cleanup_json struct json *own = texts(NULL, &err);
	cleanup_json struct json *ours = texts(folder, &err);

	(void)state;
	assert_non_null(own);
	assert_non_null(ours);
	assert_int_equal(err.kind, ERR_NONE);
	assert_string_equal(json_get_string(own, "judge"), json_get_string(ours, "judge"));
}

static void test_unreadable_is_an_error(void **state)
{
	cleanup_free char *path = mem_printf("%s/contract.md", folder), *text = NULL;
	struct error err = ERROR_INIT;

	(void)state;
	assert_int_equal(symlink(path, path), 0);
	text = fill("contract", &err);
	assert_null(text);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_int_equal(err.errnum, ELOOP);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(unlink(path), 0);
}

static void test_under_faults(void **state)
{
	(void)state;
	put("contract", "given {{mark}}\n");
	short_transfers = true;
	int n;
	for (n = 1;; n++) {
		struct error err = ERROR_INIT;

		faults_begin(n);
		cleanup_free char *text = fill("contract", &err);
		if (!faults_end()) {
			assert_string_equal(text, "given M");
			break;
		}
		assert_null(text);
		assert_int_equal(err.kind, ERR_CONFIG);
		assert_int_equal(err.errnum, EIO);
		assert_non_null(strstr(err.message, "/contract.md: "));
	}
	assert_int_equal(n, 1 + 15 + 1 + 1); /* one open, a byte a read, the end; then none fails */
	short_transfers = false;
}

static void test_texts_under_faults(void **state)
{
	int n;

	(void)state;
	put("judge", "=== system\ngiven\n=== user\n{{mark}}\n");
	for (n = 1;; n++) {
		struct error err = ERROR_INIT;

		faults_begin(n);
		cleanup_json struct json *all = texts(folder, &err);
		if (!faults_end()) {
			assert_non_null(all);
			break;
		}
		assert_null(all);
		assert_int_equal(err.kind, ERR_CONFIG);
	}
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_absent_is_assays_own, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unreadable_is_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_under_faults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_texts_under_faults, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("agent_prompt", tests, NULL, NULL);
}
