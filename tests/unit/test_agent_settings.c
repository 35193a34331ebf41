#include "agent/settings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-settings-XXXXXX";
static char config_path[256];

static void write_config(const char *text)
{
	FILE *f = fopen(config_path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int load(struct settings *s, struct options *o, struct error *err, int argc, char **argv)
{
	assert_int_equal(options_parse(o, argc, argv, CMD_ASK, err), 0);
	return settings_load(s, o, err);
}

#define LOAD(s, o, err, ...)                                                             \
	load(s, o, err, (int)(sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *)), \
	     (char *[]){ __VA_ARGS__ })

static void release(struct settings *s, struct options *o)
{
	settings_release(s);
	options_release(o);
}

static void test_defaults_are_the_documented_ones(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	assert_int_equal(s.limits.wall_ms, 10000);
	assert_int_equal(s.limits.memory_bytes, 512 << 20);
	assert_int_equal(s.limits.processes, 64);
	assert_int_equal(s.limits.stdout_bytes, 1 << 20);
	assert_int_equal(s.budget.attempts, 4);	/* one and three repairs */
	assert_int_equal(s.budget.exec_ms, 30000);
	assert_int_equal(s.budget.cost_micro_usd, -1);
	assert_int_equal(s.approve, APPROVE_AUTO);
	assert_int_equal(s.screen_profile, SCREEN_STANDARD);
	assert_int_equal(s.require, LEVEL_JUDGED);
	assert_true(s.judge);
	assert_true(s.stream);
	release(&s, &o);
}

/* Each source overrides the next: flag, variable, profile, file, default. */
static void test_precedence(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;
	const char *origin;

	(void)state;
	write_config("timeout = 3\n[profile slow]\ntimeout = 4\n");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	assert_int_equal(s.limits.wall_ms, 3000);
	assert_string_equal(settings_text(&s, OPT_TIMEOUT, &origin), "3");
	assert_string_equal(origin, "configuration");
	release(&s, &o);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--use", "slow"), 0);
	assert_int_equal(s.limits.wall_ms, 4000);
	release(&s, &o);
	setenv("ASSAY_TIMEOUT", "5", 1);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--use", "slow"), 0);
	assert_int_equal(s.limits.wall_ms, 5000);
	release(&s, &o);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--timeout", "6"), 0);
	assert_int_equal(s.limits.wall_ms, 6000);
	release(&s, &o);
	unsetenv("ASSAY_TIMEOUT");
}

static void refuse_flag(char *name, char *value, const char *expected)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, name, value), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.message, expected))
		fail_msg("\"%s\" does not say \"%s\"", err.message, expected);
	options_release(&o);
}

static void test_bad_flags_are_usage_errors(void **state)
{
	char *const cases[][3] = {
		{ "--timeout", "0", "time" },	      { "--timeout", "-1", "time" },
		{ "--timeout", "ten", "time" },	      { "--timeout", "nan", "time" },
		{ "--timeout", "1e300", "time" },     { "--memory", "12Q", "size" },
		{ "--memory", "0", "size" },	      { "--pids", "1.5", "whole number" },
		{ "--pids", "99999999999999999999", "whole number" },
		{ "--max-cost", "free", "dollars" },  { "--profile", "lax", "strict" },
		{ "--approve", "maybe", "ask" },      { "--require", "sure", "judged" },
		{ "--lang", "cobol", "python" },      { "--color", "blue", "always" },
		{ "--role-model", "coder", "ROLE=MODEL" }, { "--role-model", "code=off", "coder" },
		{ "--option", "novalue", "KEY=VALUE" },
	};
	size_t i;

	(void)state;
	write_config("");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_flag(cases[i][0], cases[i][1], cases[i][2]);
}

static void test_a_bad_variable_is_a_configuration_error(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	write_config("");
	setenv("ASSAY_MEMORY", "lots", 1);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_non_null(strstr(err.message, "lots"));
	options_release(&o);
	unsetenv("ASSAY_MEMORY");
}

static void test_units(void **state)
{
	int64_t n;

	(void)state;
	assert_int_equal(settings_parse_ms("500ms", &n), 0);
	assert_int_equal(n, 500);
	assert_int_equal(settings_parse_ms("1.5", &n), 0);
	assert_int_equal(n, 1500);
	assert_int_equal(settings_parse_ms("2m", &n), 0);
	assert_int_equal(n, 120000);
	assert_int_equal(settings_parse_ms("2 m", &n), -1);
	assert_int_equal(settings_parse_bytes("1g", &n), 0);
	assert_int_equal(n, 1 << 30);
	assert_int_equal(settings_parse_bytes("512MiB", &n), 0);
	assert_int_equal(n, 512 << 20);
	assert_int_equal(settings_parse_bytes("", &n), -1);
	assert_int_equal(settings_parse_bytes("inf", &n), -1);
}

static void test_json_there_and_back(void **state)
{
	struct error err = ERROR_INIT;
	struct settings a, b;
	struct options o, p;
	struct json *before, *after;

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&a, &o, &err, "--config", config_path, "--timeout", "7", "--memory",
			      "64M", "-m", "big", "--role-model", "judge=off", "--role-model",
			      "plan=small", "-o", "temperature=0.5", "--profile", "strict",
			      "--approve", "never", "--no-judge", "--require", "ran", "--lang",
			      "js", "--max-cost", "1.25"),
			 0);
	before = settings_json(&a);
	assert_int_equal(LOAD(&b, &p, &err, "--config", config_path), 0);
	assert_int_equal(settings_from_json(&b, before, &err), 0);
	after = settings_json(&b);
	assert_true(json_equal(before, after));
	assert_string_equal(b.lang, "javascript");
	assert_int_equal(b.budget.cost_micro_usd, 1250000);
	assert_true(b.roles[ROLE_JUDGE].off);
	json_free(before);
	json_free(after);
	release(&a, &o);
	release(&b, &p);
}

static void test_a_damaged_record_is_refused(void **state)
{
	static const char text[] = "{\"profile\":\"none such\",\"require\":\"ran\"}";
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;
	struct json *record = json_parse(text, strlen(text), 0, &err);

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	assert_int_equal(settings_from_json(&s, record, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	json_free(record);
	release(&s, &o);
}

static void test_prices_by_glob(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;
	struct price p;

	(void)state;
	write_config("[prices]\ngpt-* = 1, 0.1, 10\nlocal = 0, 0\nodd = cheap\n");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	p = settings_price(&s, "gpt-5");
	assert_true(p.known);
	assert_true(fabs(p.cached - 0.1) < 1e-12);
	assert_true(fabs(p.output - 10) < 1e-12);
	assert_true(settings_price(&s, "local").known);
	assert_false(settings_price(&s, "odd").known);
	assert_false(settings_price(&s, "other").known);
	assert_false(settings_price(&s, NULL).known);
	release(&s, &o);
}

static void test_a_task_s_limits(void **state)
{
	static const char good[] = "{\"timeout\":2.5,\"memory\":\"64M\",\"output_bytes\":100}";
	static const char *const bad[] = { "{\"timout\":2}", "{\"timeout\":0}",
					   "{\"timeout\":\"x\"}", "{\"pids\":-1}",
					   "{\"memory\":[]}" };
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;
	struct json *limits;
	size_t i;

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	limits = json_parse(good, strlen(good), 0, &err);
	assert_int_equal(settings_apply_limits(&s, limits, &err), 0);
	assert_int_equal(s.limits.wall_ms, 2500);
	assert_int_equal(s.limits.memory_bytes, 64 << 20);
	assert_int_equal(s.limits.stderr_bytes, 100);
	json_free(limits);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		limits = json_parse(bad[i], strlen(bad[i]), 0, &err);
		assert_int_equal(settings_apply_limits(&s, limits, &err), -1);
		assert_int_equal(err.kind, ERR_USAGE);
		json_free(limits);
	}
	release(&s, &o);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(config_path, sizeof(config_path), "%s/config.ini", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(config_path);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_the_documented_ones),
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_bad_flags_are_usage_errors),
		cmocka_unit_test(test_a_bad_variable_is_a_configuration_error),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_json_there_and_back),
		cmocka_unit_test(test_a_damaged_record_is_refused),
		cmocka_unit_test(test_prices_by_glob),
		cmocka_unit_test(test_a_task_s_limits),
	};

	return cmocka_run_group_tests_name("agent_settings", tests, set_up, tear_down);
}
