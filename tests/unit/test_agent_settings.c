/*
 * Settings: which of flag, environment, profile and file counts, and which values are refused. How
 * a file is read, line by line, is test_agent_config.c's.
 */
#include "agent/cli/settings.h"

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

#define LOAD(s, o, err, ...)                                                       \
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
	assert_int_equal(s.policy.limits.wall_ms, 10000);
	assert_int_equal(s.policy.limits.memory_bytes, 512 << 20);
	assert_int_equal(s.policy.limits.processes, 64);
	assert_int_equal(s.policy.limits.stdout_bytes, 1 << 20);
	assert_int_equal(s.policy.budget.attempts, 4); /* one and three repairs */
	assert_int_equal(s.policy.budget.exec_ms, 30000);
	assert_int_equal(s.policy.budget.cost_micro_usd, -1);
	assert_int_equal(s.policy.approve, APPROVE_AUTO);
	assert_int_equal(s.policy.screen_profile, SCREEN_STANDARD);
	assert_int_equal(s.policy.require, LEVEL_JUDGED);
	assert_string_equal(s.policy.sandbox, "native");
	assert_true(s.policy.judge);
	assert_true(s.means.stream);
	release(&s, &o);
}

/* Each source overrides the next: flag, variable, profile, file, default. */
static void test_precedence(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	write_config("timeout = 3\n[profile slow]\ntimeout = 4\n");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	assert_int_equal(s.policy.limits.wall_ms, 3000);
	const char *origin;
	assert_string_equal(settings_text(&s, OPT_TIMEOUT, &origin), "3");
	assert_string_equal(origin, "configuration");
	release(&s, &o);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--use", "slow"), 0);
	assert_int_equal(s.policy.limits.wall_ms, 4000);
	release(&s, &o);
	setenv("ASSAY_TIMEOUT", "5", 1);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--use", "slow"), 0);
	assert_int_equal(s.policy.limits.wall_ms, 5000);
	release(&s, &o);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--timeout", "6"), 0);
	assert_int_equal(s.policy.limits.wall_ms, 6000);
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
		{ "--timeout", "0", "time" },
		{ "--timeout", "-1", "time" },
		{ "--timeout", "ten", "time" },
		{ "--timeout", "nan", "time" },
		{ "--timeout", "1e300", "time" },
		{ "--memory", "12Q", "size" },
		{ "--memory", "0", "size" },
		{ "--pids", "1.5", "whole number" },
		{ "--pids", "99999999999999999999", "whole number" },
		{ "--max-cost", "free", "dollars" },
		{ "--profile", "lax", "strict" },
		{ "--approve", "maybe", "ask" },
		{ "--require", "sure", "judged" },
		{ "--lang", "cobol", "python" },
		{ "--color", "blue", "always" },
		{ "--role-model", "coder", "ROLE=MODEL" },
		{ "--role-model", "code=off", "coder" },
		{ "--option", "novalue", "KEY=VALUE" },
		{ "--sandbox", "moon", "there is: native (" },
		{ "--sandbox", "ssh", "ssh:[USER@]HOST (" },
		{ "--sandbox", "docker", "\"docker\" is not complete: docker:IMAGE (" },
		{ "--oci-runtime", "runc", "--sandbox oci" },
		{ "--image", "debian", "--sandbox docker" },
		{ "--use", "strict", "sets nothing in a section [profile strict]" },
	};

	(void)state;
	write_config("[profile other]\nprofile = strict\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refuse_flag(cases[i][0], cases[i][1], cases[i][2]);
}

static void test_a_bad_variable_is_a_configuration_error(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	write_config("");
	setenv("ASSAY_MEMORY", "lots", 1);
	struct options o;
	struct settings s;
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_non_null(strstr(err.message, "ASSAY_MEMORY: \"lots\""));
	options_release(&o);
	unsetenv("ASSAY_MEMORY");
	error_clear(&err);
	setenv("ASSAY_SANDBOX", "moon", 1);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	assert_non_null(strstr(err.message, "there is: native ("));
	options_release(&o);
	unsetenv("ASSAY_SANDBOX");
}

static void refuse_config(const char *text, const char *expected)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	write_config(text);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	if (!strstr(err.message, expected))
		fail_msg("\"%s\" does not say \"%s\"", err.message, expected);
	options_release(&o);
}

static void test_a_bad_line_is_named(void **state)
{
	(void)state;
	refuse_config("warm = 2\nmemory = lots\n", ":2: memory: \"lots\"");
	refuse_config("use = small\nmemory = 1G\n[profile small]\nmemory = lots\n",
		      ":4: memory: \"lots\"");
	refuse_config("use = smal\n[profile small]\nmemory = 1G\n", ":1: use: ");
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
	struct settings a;
	struct options o;

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&a, &o, &err, "--config", config_path, "--timeout", "7", "--memory",
			      "64M", "-m", "big", "--role-model", "judge=off", "--role-model",
			      "plan=small", "-o", "temperature=0.5", "--profile", "strict",
			      "--approve", "never", "--no-judge", "--require", "ran", "--lang",
			      "js", "--max-cost", "1.25"),
			 0);
	struct json *before = policy_json(&a.policy);
	struct options p;
	struct settings b;
	assert_int_equal(LOAD(&b, &p, &err, "--config", config_path), 0);
	assert_int_equal(policy_from_json(&b.policy, before, &err), 0);
	struct json *after = policy_json(&b.policy);
	assert_true(json_equal(before, after));
	assert_string_equal(b.policy.lang, "javascript");
	assert_int_equal(b.policy.budget.cost_micro_usd, 1250000);
	assert_true(b.policy.roles[ROLE_JUDGE].off);
	json_free(before);
	json_free(after);
	release(&a, &o);
	release(&b, &p);
}

/* An engine without a command line works as one without options. */
static void test_defaults_are_those_of_the_policy(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	const struct means usual = MEANS_INIT;
	struct policy policy;
	policy_init(&policy);
	struct json *given = policy_json(&s.policy);
	struct json *own = policy_json(&policy);
	assert_true(json_equal(given, own));
	assert_int_equal(s.means.retries, usual.retries);
	assert_int_equal(s.means.request_timeout_ms, usual.request_timeout_ms);
	assert_int_equal(s.means.stream, usual.stream);
	json_free(given);
	json_free(own);
	policy_release(&policy);
	release(&s, &o);
}

/* Whatever a flag can say the file can, a line for each value of a list. */
static void test_every_option_is_a_key_of_the_file(void **state)
{
	struct error err = ERROR_INIT;

	(void)state;
	for (int i = 0; i < OPT_COUNT; i++) {
		char line[128];

		if (option_table[i].flags & OPTION_NO_CONFIG)
			continue;
		snprintf(line, sizeof(line), "%s = 1\n", option_table[i].name);
		write_config(line);
		struct config c;
		if (config_load(&c, config_path, &err) < 0)
			fail_msg("%s: %s", option_table[i].name, err.message);
		config_release(&c);
	}
	write_config("role-model = judge=small, plan=off\nrole-model = answer=tiny\n"
		     "option = temperature=0.5\noption = stop=[\"a\",\"b\"]\nlang = js\n"
		     "tag = nightly\nraw = no\n[profile dear]\nrole-model = judge=big\n");
	struct options o;
	struct settings s;
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	assert_string_equal(s.policy.roles[ROLE_JUDGE].model, "small");
	assert_string_equal(s.policy.roles[ROLE_ANSWER].model, "tiny");
	assert_true(s.policy.roles[ROLE_PLAN].off);
	assert_int_equal(json_count(s.policy.model_options), 2);
	assert_string_equal(s.policy.lang, "javascript");
	assert_string_equal(s.options->given[OPT_TAG].values[0], "nightly");
	assert_int_equal(s.options->given[OPT_RAW].count, 0);
	release(&s, &o);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--use", "dear"), 0);
	assert_string_equal(s.policy.roles[ROLE_JUDGE].model, "big");
	assert_false(s.policy.roles[ROLE_PLAN].off); /* the profile's lines, not both */
	release(&s, &o);
	setenv("ASSAY_ROLE_MODEL", "code=v", 1);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--use", "dear"), 0);
	assert_string_equal(s.policy.roles[ROLE_CODE].model, "v");
	assert_null(s.policy.roles[ROLE_JUDGE].model);
	release(&s, &o);
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path, "--role-model", "code=f"), 0);
	assert_string_equal(s.policy.roles[ROLE_CODE].model, "f");
	release(&s, &o);
	unsetenv("ASSAY_ROLE_MODEL");
	write_config("role-model = nobody=x\n");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	options_release(&o);
}

static void test_a_damaged_record_is_refused(void **state)
{
	static const char text[] = "{\"profile\":\"none such\",\"require\":\"ran\"}";
	struct error err = ERROR_INIT;
	struct json *record = json_parse(text, strlen(text), 0, &err);

	(void)state;
	write_config("");
	struct options o;
	struct settings s;
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	assert_int_equal(policy_from_json(&s.policy, record, &err), -1);
	assert_int_equal(err.kind, ERR_LOG);
	json_free(record);
	release(&s, &o);
}

static void test_prices_by_glob(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	write_config("[prices]\ngpt-* = 1, 0.1, 10\nlocal = 0, 0\nodd = cheap\n");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	struct price p = price_of(&s.means.prices, "gpt-5");
	assert_true(p.known);
	assert_true(fabs(p.cached - 0.1) < 1e-12);
	assert_true(fabs(p.output - 10) < 1e-12);
	assert_true(price_of(&s.means.prices, "local").known);
	assert_false(price_of(&s.means.prices, "odd").known);
	assert_false(price_of(&s.means.prices, "other").known);
	assert_false(price_of(&s.means.prices, NULL).known);
	p = price_of(&s.means.prices, "claude-sonnet-4-5-20250929"); /* a built-in one */
	assert_true(p.known && p.listed);
	assert_true(fabs(p.input - 3) < 1e-12 && fabs(p.output - 15) < 1e-12);
	assert_true(price_of(&s.means.prices, "anthropic/claude-haiku-4-5").known);
	assert_false(price_of(&s.means.prices, "gpt-5").listed); /* overridden above */
	assert_false(price_of(&s.means.prices, "gemini-2.5-flash-image").known);
	assert_false(price_of(&s.means.prices, "claude-sonnet-4-5-thinking").known);
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

	(void)state;
	write_config("");
	assert_int_equal(LOAD(&s, &o, &err, "--config", config_path), 0);
	struct json *limits = json_parse(good, strlen(good), 0, &err);
	assert_int_equal(settings_apply_limits(&s.policy, limits, &err), 0);
	assert_int_equal(s.policy.limits.wall_ms, 2500);
	assert_int_equal(s.policy.limits.memory_bytes, 64 << 20);
	assert_int_equal(s.policy.limits.stderr_bytes, 100);
	json_free(limits);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		limits = json_parse(bad[i], strlen(bad[i]), 0, &err);
		assert_int_equal(settings_apply_limits(&s.policy, limits, &err), -1);
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
		cmocka_unit_test(test_a_bad_line_is_named),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_json_there_and_back),
		cmocka_unit_test(test_defaults_are_those_of_the_policy),
		cmocka_unit_test(test_every_option_is_a_key_of_the_file),
		cmocka_unit_test(test_a_damaged_record_is_refused),
		cmocka_unit_test(test_prices_by_glob),
		cmocka_unit_test(test_a_task_s_limits),
	};

	return cmocka_run_group_tests_name("agent_settings", tests, set_up, tear_down);
}
