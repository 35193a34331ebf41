/*
 * The configuration file: what it may say, and what is refused with its line. What a setting means
 * once it is read is test_agent_settings.c's.
 */
#include "agent/cli/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-config-XXXXXX";
static char path[256];

static void write_bytes(const char *bytes, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fwrite(bytes, 1, len, f);
	fclose(f);
}

static void refuse(const char *text, const char *expected)
{
	struct error err = ERROR_INIT;
	struct config c;

	write_bytes(text, strlen(text));
	assert_int_equal(config_load(&c, path, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	if (!strstr(err.message, expected))
		fail_msg("\"%s\" does not say \"%s\"", err.message, expected);
}

static void test_sections_and_the_last_entry(void **state)
{
	static const char text[] = "; comment\nmodel = a\nmodel = b\n[profile fast]\nmodel = c\n"
				   "[prices]\nanything-* = 1,2\n[keys]\nOPENAI_API_KEY = /x\n";
	struct error err = ERROR_INIT;
	struct config c;

	(void)state;
	write_bytes(text, strlen(text));
	assert_int_equal(config_load(&c, path, &err), 0);
	assert_true(c.found);
	assert_string_equal(config_find(&c, "", "model")->value, "b");
	assert_int_equal(config_find(&c, "", "model")->line, 3);
	assert_string_equal(config_find(&c, "profile fast", "model")->value, "c");
	assert_string_equal(config_find(&c, "prices", "anything-*")->value, "1,2");
	assert_null(config_find(&c, "profile slow", "model"));
	config_release(&c);
}

static void test_what_is_wrong_is_named_with_its_line(void **state)
{
	(void)state;
	refuse("\nmodle = x\n", ":2: unknown key \"modle\"; did you mean \"model\"?");
	refuse("[profil x]\nmodel = y\n", "unknown section");
	refuse("model = x\njust words\n", ":2:");
	refuse("config = other.ini\n", "unknown key"); /* only on the command line */
}

static void test_a_given_file_must_exist(void **state)
{
	struct error err = ERROR_INIT;
	struct config c;

	(void)state;
	assert_int_equal(config_load(&c, "/no/such/config.ini", &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_non_null(strstr(err.message, "/no/such/config.ini"));
	assert_int_equal(config_load(&c, folder, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
}

static void test_the_users_file_may_be_absent(void **state)
{
	struct error err = ERROR_INIT;
	struct config c;

	(void)state;
	setenv("XDG_CONFIG_HOME", folder, 1);
	assert_int_equal(config_load(&c, NULL, &err), 0);
	assert_false(c.found);
	assert_non_null(strstr(c.path, "/assay/config.ini"));
	assert_memory_equal(c.path, folder, strlen(folder));
	config_release(&c);
	unsetenv("XDG_CONFIG_HOME");
}

/* What is there and cannot be read is not taken for absent. */
static void test_the_users_file_must_be_readable(void **state)
{
	char below[80];
	struct error err = ERROR_INIT;

	(void)state;
	snprintf(below, sizeof(below), "%s/assay", folder);
	char file[96];
	snprintf(file, sizeof(file), "%s/config.ini", below);
	assert_int_equal(mkdir(below, 0700), 0);
	assert_int_equal(symlink(file, file), 0);
	setenv("XDG_CONFIG_HOME", folder, 1);
	struct config c;
	assert_int_equal(config_load(&c, NULL, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_non_null(strstr(err.message, file));
	unsetenv("XDG_CONFIG_HOME");
	unlink(file);
	rmdir(below);
}

static void test_hostile_bytes(void **state)
{
	static const char nul[] = "model = a\0b\n[prices]\n";
	struct error err = ERROR_INIT;
	char *huge = malloc(2 << 20);

	(void)state;
	memset(huge, 'a', 2 << 20);
	write_bytes(huge, 2 << 20);
	struct config c;
	assert_int_equal(config_load(&c, path, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	write_bytes(huge, 100000);
	assert_int_equal(config_load(&c, path, &err), -1);
	assert_non_null(strstr(err.message, ":1: line longer than"));
	free(huge);
	write_bytes(nul, sizeof(nul) - 1); /* must not crash; either answer is fine */
	if (config_load(&c, path, &err) == 0)
		config_release(&c);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/c.ini", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sections_and_the_last_entry),
		cmocka_unit_test(test_what_is_wrong_is_named_with_its_line),
		cmocka_unit_test(test_a_given_file_must_exist),
		cmocka_unit_test(test_the_users_file_may_be_absent),
		cmocka_unit_test(test_the_users_file_must_be_readable),
		cmocka_unit_test(test_hostile_bytes),
	};

	return cmocka_run_group_tests_name("agent_config", tests, set_up, tear_down);
}
