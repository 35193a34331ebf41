/*
 * Providers: the rows there are, and the user's own. No server is asked: what one is sent is
 * test_llm_wire.c's.
 */
#include "agent/cli/app.h"
#include "agent/cli/keys.h"
#include "agent/cli/vendor.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/assay-vendor-XXXXXX";
static char config_path[256], key_path[256];

static void write_file(const char *path, const char *text, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	chmod(path, mode);
}

static struct app app;

static void load(struct settings *s, struct options *o, const char *config)
{
	char *argv[] = { "--config", config_path };
	struct error err = ERROR_INIT;

	write_file(config_path, config, 0600);
	assert_int_equal(options_parse(o, 2, argv, CMD_ASK, &err), 0);
	if (settings_load(s, o, &err) < 0)
		fail_msg("%s", err.message);
	s->app = &app;
}

static void release(struct settings *s, struct options *o)
{
	settings_release(s);
	options_release(o);
}

static void test_every_row_can_be_used(void **state)
{
	struct error err = ERROR_INIT;
	const struct vendor *v;
	struct vendor found;
	struct settings s;
	struct options o;
	size_t n;

	(void)state;
	load(&s, &o, "");
	for (n = 0; (v = vendor_at(n)); n++) {
		assert_int_equal(vendor_find(&found, &s, v->name, &err), 0);
		assert_string_equal(found.name, v->name);
		if (v->kind == VENDOR_HTTP)
			assert_non_null(v->key);
		if (v->url && *v->url != '$')
			assert_true(!strncmp(v->url, "http", 4));
	}
	assert_true(n >= 15);
	assert_int_equal(vendor_find(&found, &s, "opanai", &err), -1);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, "did you mean \"openai\""));
	release(&s, &o);
}

static void test_variables_in_a_url(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	load(&s, &o, "");
	unsetenv("AZURE_OPENAI_ENDPOINT");
	struct vendor v;
	assert_int_equal(vendor_find(&v, &s, "azure-dated", &err), 0);
	char *url;
	assert_int_equal(vendor_url(&v, &url, &err), -1);
	assert_non_null(strstr(err.message, "AZURE_OPENAI_ENDPOINT is not set"));
	setenv("AZURE_OPENAI_ENDPOINT", "https://r.openai.azure.com/", 1);
	setenv("OPENAI_API_VERSION", "2024-10-21", 1);
	assert_int_equal(vendor_url(&v, &url, &err), 0);
	assert_string_equal(url, "https://r.openai.azure.com/openai/deployments/{model}"
				 "?api-version=2024-10-21");
	free(url);
	release(&s, &o);
}

static void test_own_rows(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;
	struct vendor v;

	(void)state;
	load(&s, &o,
	     "[provider lab]\nurl = http://lab:9/v1\nwire = anthropic\nkey = LAB_KEY\n"
	     "header = X-Lab: Token\nmodel = big\nquirks = no-stream-options cuts-context\n"
	     "[provider groq]\nmodel = mine\n[provider open]\nurl = http://h/v1\n");
	assert_int_equal(vendor_find(&v, &s, "lab", &err), 0);
	assert_int_equal(v.wire, LLM_WIRE_ANTHROPIC);
	assert_string_equal(v.url, "http://lab:9/v1");
	assert_string_equal(v.key, "LAB_KEY");
	assert_string_equal(v.auth, "X-Lab: Token");
	assert_string_equal(v.model, "big");
	assert_int_equal(v.quirks, LLM_QUIRK_NO_STREAM_OPTIONS | LLM_QUIRK_CUTS_CONTEXT);
	assert_true(v.needs_key);
	assert_int_equal(vendor_find(&v, &s, "groq", &err), 0); /* laid over the built-in row */
	assert_string_equal(v.model, "mine");
	assert_string_equal(v.key, "GROQ_API_KEY");
	assert_int_equal(vendor_find(&v, &s, "open", &err), 0);
	assert_false(v.needs_key);
	release(&s, &o);
}

static void refuse(const char *config, const char *words)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;
	struct vendor v;

	load(&s, &o, config);
	assert_int_equal(vendor_find(&v, &s, "lab", &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	if (!strstr(err.message, words))
		fail_msg("\"%s\" lacks \"%s\"", err.message, words);
	assert_null(strstr(err.message, "sk-secret"));
	release(&s, &o);
}

static void test_bad_rows(void **state)
{
	(void)state;
	refuse("[provider lab]\nmodel = x\n", "no url");
	refuse("[provider lab]\nurl = http://h\nwire = soap\n", "none of openai");
	refuse("[provider lab]\nurl = http://h\nkey = sk-secret\n", "not the key itself");
	refuse("[provider lab]\nurl = http://h\nquirks = odd\n", "none of no-stream-options");
	refuse("[provider lab]\nurl = http://h\nrul = x\n", "unknown key");
}

/* --- keys --- */

static int find_key(const char *config, const char **ret_value, struct error *err)
{
	struct settings s;
	struct options o;
	static int round;
	char name[32];

	/* A name of its own each time: keys that were found are kept. */
	snprintf(name, sizeof(name), "TEST_%d_KEY", round++);
	char *text = mem_printf("[keys]\n%s = %s\n", name, config);
	load(&s, &o, text);
	int rc = keys_find(&s.app->keys, &s.config, name, ret_value, NULL, err);
	release(&s, &o);
	free(text);
	return rc;
}

static void check_key(const char *config, const char *expected)
{
	struct error err = ERROR_INIT;
	const char *value = NULL;

	if (find_key(config, &value, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(value, expected);
}

static void refuse_key(const char *config, const char *words)
{
	struct error err = ERROR_INIT;
	const char *value = NULL;

	assert_int_equal(find_key(config, &value, &err), -1);
	assert_int_equal(err.kind, ERR_CONFIG);
	if (!strstr(err.message, words))
		fail_msg("\"%s\" lacks \"%s\"", err.message, words);
	assert_null(strstr(err.message, "sk-secret"));
}

static void test_key_files(void **state)
{
	char *source = mem_printf("file:%s", key_path);

	(void)state;
	write_file(key_path, "sk-secret-1  \r\nnote\n", 0600);
	check_key(source, "sk-secret-1");
	check_key(key_path, "sk-secret-1");
	write_file(key_path, "sk-secret", 0640);
	refuse_key(source, "chmod 600");
	write_file(key_path, "sk-secret", 0604);
	refuse_key(source, "chmod 600");
	write_file(key_path, "\n", 0600);
	refuse_key(source, "no key");
	refuse_key("file:/nowhere/key", "No such file");
	refuse_key("file:/tmp", "not a regular file");
	refuse_key("sk-secret-in-the-configuration", "does not belong");
	free(source);
}

static void test_key_commands(void **state)
{
	(void)state;
	check_key("command:printf 'sk-secret-2\\nuser: me\\n'", "sk-secret-2");
	check_key("command:sh -c 'echo sk-secret-3'", "sk-secret-3");
	refuse_key("command:sh -c 'echo sk-secret; exit 3'", "exit code 3");
	refuse_key("command:true", "no key");
	refuse_key("command:/no/such/program", "No such file");
	refuse_key("command:pass 'x", "");
}

static bool in_own_environ(const char *word)
{
	char bytes[65536];
	FILE *f = fopen("/proc/self/environ", "r");
	size_t n = fread(bytes, 1, sizeof(bytes), f);

	fclose(f);
	return memmem(bytes, n, word, strlen(word)) != NULL;
}

/* A variable that was used is gone, for children and for /proc. */
static void test_used_variables_are_taken(void **state)
{
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	load(&s, &o, "");
	if (!getenv("TAKEN_API_KEY"))
		skip();
	assert_true(in_own_environ("sk-secret-env"));
	assert_true(keys_present(&s.app->keys, &s.config, "TAKEN_API_KEY", NULL));
	const char *value, *origin;
	assert_int_equal(keys_find(&s.app->keys, &s.config, "TAKEN_API_KEY", &value, &origin, &err),
			 0);
	assert_string_equal(value, "sk-secret-env");
	assert_string_equal(origin, "environment");
	assert_null(getenv("TAKEN_API_KEY"));
	assert_false(in_own_environ("sk-secret-env"));
	assert_int_equal(keys_find(&s.app->keys, &s.config, "TAKEN_API_KEY", &value, NULL, &err),
			 0);
	assert_string_equal(value, "sk-secret-env");
	release(&s, &o);
}

/* Two apps of one process: what one has found the other does not know. */
static void test_keys_belong_to_their_app(void **state)
{
	struct app another = { .cancel_fd = -1 };
	struct error err = ERROR_INIT;
	struct settings s;
	struct options o;

	(void)state;
	load(&s, &o, "");
	setenv("LENT_API_KEY", "sk-lent", 1);
	const char *value;
	assert_int_equal(keys_find(&s.app->keys, &s.config, "LENT_API_KEY", &value, NULL, &err), 0);
	assert_string_equal(value, "sk-lent");
	s.app = &another;
	assert_false(keys_present(&s.app->keys, &s.config, "LENT_API_KEY", NULL));
	assert_int_equal(keys_find(&s.app->keys, &s.config, "LENT_API_KEY", &value, NULL, &err), 0);
	assert_null(value);
	keys_release(&another.keys);
	assert_int_equal(another.keys.count, 0);
	release(&s, &o);
}

static void test_secrets_list_what_was_taken(void **state)
{
	struct settings s;
	struct options o;
	bool key = false, other = false, url = false, short_one = false;

	(void)state;
	load(&s, &o, "");
	setenv("OTHER_TOKEN", "tok-secret", 1);
	setenv("DATABASE_URL", "postgres://carol:hunter2hunter2@db/x", 1);
	setenv("ASSAY_TEST_AUTH", "on", 1);
	size_t count;
	struct audit_secret *secrets = keys_secrets(&s.app->keys, &s.config, &count);
	for (size_t i = 0; i < count; i++) {
		key = key || !strcmp(secrets[i].value, "sk-secret-3");
		other = other || !strcmp(secrets[i].value, "tok-secret");
		url = url || !strcmp(secrets[i].value, "hunter2hunter2");
		short_one = short_one || !strcmp(secrets[i].name, "ASSAY_TEST_AUTH");
	}
	assert_true(url);
	assert_false(short_one);
	assert_true(key);
	assert_true(other);
	assert_non_null(getenv("OTHER_TOKEN"));
	free(secrets);
	release(&s, &o);
}

static int clean(void **state)
{
	(void)state;
	keys_release(&app.keys);
	unlink(config_path);
	unlink(key_path);
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest agent_vendor[] = {
		cmocka_unit_test(test_every_row_can_be_used),
		cmocka_unit_test(test_variables_in_a_url),
		cmocka_unit_test(test_own_rows),
		cmocka_unit_test(test_bad_rows),
		cmocka_unit_test(test_key_files),
		cmocka_unit_test(test_key_commands),
		cmocka_unit_test(test_used_variables_are_taken),
		cmocka_unit_test(test_keys_belong_to_their_app),
		cmocka_unit_test(test_secrets_list_what_was_taken),
	};

	(void)argc;
	/* /proc shows the environment a program was started with: start again with one. */
	if (!getenv("TAKEN_API_KEY")) {
		setenv("TAKEN_API_KEY", "sk-secret-env", 1);
		execv("/proc/self/exe", argv);
	}
	if (!mkdtemp(folder))
		return 1;
	snprintf(config_path, sizeof(config_path), "%s/config.ini", folder);
	snprintf(key_path, sizeof(key_path), "%s/key", folder);
	return cmocka_run_group_tests(agent_vendor, NULL, clean);
}
