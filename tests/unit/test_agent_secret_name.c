/*
 * Which variables hold secrets, by name; and the passwords of URLs, whatever the name. What is
 * taken out of a text by its form is test_audit_redact.c's.
 */
#include "agent/cli/secret_name.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_names_of_secrets(void **state)
{
	static const char *const names[] = {
		"OPENAI_API_KEY",
		"AWS_SECRET_ACCESS_KEY",
		"AWS_ACCESS_KEY_ID",
		"AWS_SESSION_TOKEN",
		"GITHUB_TOKEN",
		"GITHUB_PAT",
		"TOKEN_GITHUB",
		"PGPASSWORD",
		"MYSQL_PWD",
		"DB_PASS",
		"DBPASS",
		"SMTP_PASS",
		"db_password",
		"DatabasePassword",
		"REDISCLI_AUTH",
		"NPM_AUTH",
		"DOCKER_AUTH_CONFIG",
		"SENTRY_DSN",
		"SLACK_WEBHOOK_URL",
		"SECRET_KEY_BASE",
		"SECRET",
		"API_SECRET_2",
		"OPENAI_API_KEY_1",
		"VAULT_UNSEAL_KEYS",
		"LDAP_BINDPW",
		"GPG_PASSPHRASE",
		"GCP_CREDENTIALS",
		"GCP_CREDS",
		"TLS_PRIVATE_KEY_PEM",
		"JWT",
		"SESSION_COOKIE",
		"WALLET_MNEMONIC",
		"WIFI_PSK",
		"AZURE_STORAGE_CONNECTION_STRING",
		"HASH_SALT",
		"TWILIO_AUTHTOKEN",
		"CLOUDFLARE_APIKEY",
		"BEARER",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (secret_name_is(names[i], strlen(names[i])) == SECRET_NAME_NONE)
			fail_msg("%s is taken for harmless", names[i]);
}

static void test_other_names(void **state)
{
	static const char *const names[] = {
		"PATH",
		"PWD",
		"OLDPWD",
		"HOME",
		"SSH_AUTH_SOCK",
		"SSH_ASKPASS",
		"GIT_ASKPASS",
		"KEYBOARD",
		"XAUTHORITY",
		"DB_HOST",
		"TOKEN_FILE",
		"DB_PASSWORD_FILE",
		"TOKEN_TTL",
		"AUTH_TYPE",
		"COMPASS",
		"MAX_TOKENS_LENGTH",
		"LANG",
		"SSH_CONNECTION",
		"CLOUDSDK_CONFIG",
		"KEYCLOAK_URL",
		"",
		"_",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (secret_name_is(names[i], strlen(names[i])) != SECRET_NAME_NONE)
			fail_msg("%s is taken for a secret's", names[i]);
}

static void test_passwords_in_urls(void **state)
{
	static const struct {
		const char *url, *password;
	} rows[] = {
		{ "postgres://carol:hunter2@db:5432/x", "hunter2" },
		{ "redis://:hunter2@cache", "hunter2" },
		{ "http://carol:h@nter2@proxy:3128", "h@nter2" },
		{ "amqp://carol@host", NULL },
		{ "http://host:80/a:b@c", NULL },
		{ "unix:/run/x", NULL },
		{ "https://carol:@host", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = 0;
		const char *found = secret_name_url_password(rows[i].url, &len);

		if (!rows[i].password) {
			assert_null(found);
			continue;
		}
		assert_non_null(found);
		assert_int_equal(len, strlen(rows[i].password));
		assert_memory_equal(found, rows[i].password, len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_secrets),
		cmocka_unit_test(test_other_names),
		cmocka_unit_test(test_passwords_in_urls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
