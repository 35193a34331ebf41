/*
 * The command line: options by their table, nearest names, and what no command takes. No command
 * runs here; which value of several counts is test_agent_settings.c's.
 */
#include "agent/cli/command.h"
#include "agent/cli/option.h"
#include "agent/cli/option_names.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PARSE(options, err, bit, ...)                                                     \
	options_parse(options, (int)(sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *)), \
		      (char *[]){ __VA_ARGS__ }, bit, err)

static void test_forms_of_a_value(void **state)
{
	struct error err = ERROR_INIT;
	struct options o;

	(void)state;
	assert_int_equal(PARSE(&o, &err, CMD_EXEC, "--timeout=2", "--memory", "64M", "-fa", "-f",
			       "b", "-q", "x.py", "-"),
			 0);
	assert_string_equal(o.given[OPT_TIMEOUT].values[0], "2");
	assert_string_equal(o.given[OPT_MEMORY].values[0], "64M");
	assert_int_equal(o.given[OPT_FILE].count, 2);
	assert_string_equal(o.given[OPT_FILE].values[1], "b");
	assert_int_equal(o.given[OPT_QUIET].count, 1);
	assert_int_equal(o.arg_count, 2);
	assert_string_equal(o.args[1], "-");
	options_release(&o);
}

static void test_the_last_of_a_single_option_counts(void **state)
{
	struct error err = ERROR_INIT;
	struct options o;

	(void)state;
	assert_int_equal(PARSE(&o, &err, CMD_EXEC, "--timeout", "1", "--timeout", "2"), 0);
	assert_int_equal(o.given[OPT_TIMEOUT].count, 1);
	assert_string_equal(o.given[OPT_TIMEOUT].values[0], "2");
	options_release(&o);
}

static void test_double_dash_ends_options(void **state)
{
	struct error err = ERROR_INIT;
	struct options o;

	(void)state;
	assert_int_equal(PARSE(&o, &err, CMD_EXEC, "a.py", "--", "--json", "-x"), 0);
	assert_int_equal(o.given[OPT_JSON].count, 0);
	assert_int_equal(o.arg_count, 3);
	assert_string_equal(o.args[1], "--json");
	options_release(&o);
}

static void refuse(enum command_bit bit, char *word, const char *expected)
{
	struct error err = ERROR_INIT;
	struct options o;

	assert_int_equal(options_parse(&o, 1, &word, bit, &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.message, expected))
		fail_msg("\"%s\" does not say \"%s\"", err.message, expected);
}

static void test_what_is_refused_says_why(void **state)
{
	char unknown[] = "--timout", value[] = "--json=1", missing[] = "--timeout", letter[] = "-Z";
	char foreign[] = "--jobs", far[] = "--zzzzzzzzzzzzzzzzzz";

	(void)state;
	refuse(CMD_EXEC, unknown, "did you mean --timeout");
	refuse(CMD_EXEC, value, "takes no value");
	refuse(CMD_EXEC, missing, "needs a value");
	refuse(CMD_EXEC, letter, "unknown option -Z");
	refuse(CMD_EXEC, foreign, "unknown option --jobs"); /* another command's */
	refuse(CMD_EXEC, far, "--help lists");
}

static void test_a_huge_word_is_no_danger(void **state)
{
	char *word = calloc(1, 100003);

	(void)state;
	memset(word, 'a', 100000);
	word[0] = word[1] = '-';
	refuse(CMD_ASK, word, "unknown option");
	free(word);
}

static void test_nearest(void **state)
{
	const char *const words[] = { "list", "show", "search" };

	(void)state;
	assert_string_equal(option_nearest("serach", words, 3), "search");
	assert_string_equal(option_nearest("lst", words, 3), "list");
	assert_null(option_nearest("frobnicate", words, 3));
}

/* Rows stand in the order of their ids, and no command has a name or a letter twice. */
static void test_the_table_is_sound(void **state)
{
	(void)state;
	for (size_t i = 0; i < OPT_COUNT; i++) {
		assert_int_equal(option_table[i].id, i);
		assert_non_null(option_table[i].help);
		assert_non_null(option_table[i].group);
		for (size_t j = 0; j < i; j++) {
			if (!(option_table[i].commands & option_table[j].commands))
				continue;
			assert_string_not_equal(option_table[i].name, option_table[j].name);
			if (option_table[i].letter)
				assert_int_not_equal(option_table[i].letter,
						     option_table[j].letter);
		}
	}
}

static void test_every_command_has_a_row(void **state)
{
	static const char *const names[] = { "",       "ask",	  "batch",     "replay",   "log",
					     "exec",   "extract", "screen",    "complete", "doctor",
					     "models", "config",  "completion" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct command *c = command_find(names[i]);

		assert_non_null(c);
		assert_int_equal(c->bit, 1 << i);
		assert_non_null(c->run);
		assert_non_null(c->example);
	}
	assert_null(command_find("exce"));
}

/* What the engine speaks of can be set by an option, and each by its own. */
static void test_settings_of_the_engine_have_options(void **state)
{
	(void)state;
	for (int i = 0; i < SETTING_COUNT; i++) {
		cleanup_free char *name = option_names.name((enum setting)i);

		assert_memory_equal(name, "--", 2);
		assert_string_not_equal(name, "--help"); /* a gap of the table */
	}
	cleanup_free char *calls = option_names.name(SETTING_CALLS);
	assert_string_equal(calls, "--max-calls");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms_of_a_value),
		cmocka_unit_test(test_the_last_of_a_single_option_counts),
		cmocka_unit_test(test_double_dash_ends_options),
		cmocka_unit_test(test_what_is_refused_says_why),
		cmocka_unit_test(test_a_huge_word_is_no_danger),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_the_table_is_sound),
		cmocka_unit_test(test_every_command_has_a_row),
		cmocka_unit_test(test_settings_of_the_engine_have_options),
	};

	return cmocka_run_group_tests_name("agent_option", tests, NULL, NULL);
}
