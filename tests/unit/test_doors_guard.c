/*
 * Who comes in over HTTP: names of the server, keys and their file. No server listens here: what a
 * request is answered is tests/integration/serve*.t's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agent/doors/http/guard.h"
#include "base/io.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_hosts(void **state)
{
	static const char *const more[] = { "box.example", NULL };
	static const char *const good[] = { "localhost",      "localhost:80", "LocalHost:8317",
					    "127.0.0.1",      "[::1]:1",      "[::1]",
					    "box.example:443" };
	static const char *const bad[] = { "",
					   "evil.example",
					   "localhost.",
					   "localhost.evil",
					   "127.0.0.1.evil",
					   "127.0.0.1@evil",
					   "localhost:80x",
					   "localhost/x",
					   "[::1",
					   "::1",
					   "0.0.0.0",
					   "box.example.evil" };
	const struct guard g = { .hosts = more };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		if (!guard_host(&g, good[i]))
			fail_msg("%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (guard_host(&g, bad[i]))
			fail_msg("%s", bad[i]);
	assert_true(guard_origin(&g, "http://localhost:3000"));
	assert_true(guard_origin(&g, "HTTPS://box.example"));
	assert_false(guard_origin(&g, "null"));
	assert_false(guard_origin(&g, "localhost"));
	assert_false(guard_origin(&g, "http://evil.example"));
	assert_false(guard_origin(&g, "http://localhost@evil.example"));
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	struct error err = ERROR_INIT;

	assert_int_equal(io_replace_file(path, text, strlen(text), mode, &err), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_keys(void **state)
{
	char folder[] = "/tmp/assay-guard-XXXXXX";
	cleanup_free char *made = NULL, *again = NULL;
	struct error err = ERROR_INIT;
	struct guard g = { .keys = NULL };

	(void)state;
	assert_non_null(mkdtemp(folder));
	cleanup_free char *path = mem_printf("%s/keys", folder);
	assert_int_equal(guard_load(&g, path, &made, &err), 0);
	assert_non_null(made);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_string_equal(guard_find(&g, made, strlen(made))->owner, "key:first");
	assert_null(guard_find(&g, made, strlen(made) - 1));
	assert_null(guard_find(&g, "", 0));
	guard_release(&g);
	assert_int_equal(guard_load(&g, path, &again, &err), 0);
	assert_null(again);
	assert_non_null(guard_find(&g, made, strlen(made)));
	guard_release(&g);
	unlink(path);
	rmdir(folder);
}

static void test_files_that_are_refused(void **state)
{
	static const struct {
		const char *text, *word;
		mode_t mode;
	} files[] = {
		{ "a 12345678901234567890\n", "chmod 600", 0640 },
		{ "a short\n", ":1:", 0600 },
		{ "\n# c\na/b 12345678901234567890\n", ":3:", 0600 },
		{ "a 12345678901234567890 x\n", ":1:", 0600 },
		{ "a 12345678901234567890\nb 12345678901234567890\n", ":2:", 0600 },
		{ "# nothing\n", "no key", 0600 },
	};
	char folder[] = "/tmp/assay-guard-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	cleanup_free char *path = mem_printf("%s/keys", folder);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct error err = ERROR_INIT;
		struct guard g = { .keys = NULL };
		char *made = NULL;

		write_file(path, files[i].text, files[i].mode);
		assert_int_equal(guard_load(&g, path, &made, &err), -1);
		assert_int_equal(err.kind, ERR_CONFIG);
		if (!strstr(err.message, files[i].word))
			fail_msg("\"%s\" does not say \"%s\"", err.message, files[i].word);
		guard_release(&g);
	}
	unlink(path);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_files_that_are_refused),
	};

	return cmocka_run_group_tests_name("doors_guard", tests, NULL, NULL);
}
