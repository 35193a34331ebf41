/*
 * Tells the variables of the environment that hold secrets from the rest, by the words of their
 * names. It knows no values but URLs, and decides nothing but what redaction looks for.
 */
#include "agent/cli/secret_name.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct word {
	const char *text;
	size_t before; /* letters that may at least stand before it in its word: PGPASSWORD */
	enum secret_name is;
};
#define ALONE 64

static const struct word words[] = {
	{ "key", 3, SECRET_NAME_SURE },		 { "token", 0, SECRET_NAME_SURE },
	{ "secret", 0, SECRET_NAME_SURE },	 { "password", 0, SECRET_NAME_SURE },
	{ "passwd", 0, SECRET_NAME_SURE },	 { "passphrase", 0, SECRET_NAME_SURE },
	{ "credentials", 0, SECRET_NAME_SURE },	 { "credential", 0, SECRET_NAME_SURE },
	{ "passcode", 0, SECRET_NAME_LIKELY },	 { "keys", 3, SECRET_NAME_LIKELY },
	{ "tokens", 0, SECRET_NAME_LIKELY },	 { "secrets", 0, SECRET_NAME_LIKELY },
	{ "pass", 2, SECRET_NAME_LIKELY },	 { "pwd", ALONE, SECRET_NAME_LIKELY },
	{ "pw", 3, SECRET_NAME_LIKELY },	 { "creds", 0, SECRET_NAME_LIKELY },
	{ "cred", ALONE, SECRET_NAME_LIKELY },	 { "auth", ALONE, SECRET_NAME_LIKELY },
	{ "pat", ALONE, SECRET_NAME_LIKELY },	 { "dsn", ALONE, SECRET_NAME_LIKELY },
	{ "webhook", 0, SECRET_NAME_LIKELY },	 { "cookie", 0, SECRET_NAME_LIKELY },
	{ "jwt", ALONE, SECRET_NAME_LIKELY },	 { "psk", ALONE, SECRET_NAME_LIKELY },
	{ "salt", ALONE, SECRET_NAME_LIKELY },	 { "mnemonic", 0, SECRET_NAME_LIKELY },
	{ "otp", ALONE, SECRET_NAME_LIKELY },	 { "totp", ALONE, SECRET_NAME_LIKELY },
	{ "connstr", 0, SECRET_NAME_LIKELY },	 { "connectionstring", 0, SECRET_NAME_LIKELY },
	{ "connection", 0, SECRET_NAME_LIKELY }, { "bearer", ALONE, SECRET_NAME_LIKELY },
};

/* What a name that ends so says about a secret, and a few words that only look like one. */
static const char *const harmless_tails[] = {
	"file",	   "path",    "dir",	  "sock",      "socket",     "pid",	 "host",
	"port",	   "user",    "username", "ttl",       "type",	     "length",	 "timeout",
	"method",  "mode",    "name",	  "algorithm", "enabled",    "size",	 "helper",
	"version", "profile", "region",	  "prompt",    "connection", "provider",
};
static const char *const harmless_words[] = { "askpass", "bypass", "compass" };

static bool is_in(const char *word, size_t len, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(list[i]) == len && !strncasecmp(list[i], word, len))
			return true;
	return false;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static enum secret_name word_is(const char *word, size_t len)
{
	enum secret_name most = SECRET_NAME_NONE;

	if (is_in(word, len, harmless_words, ARRAY_SIZE(harmless_words)))
		return most;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const size_t n = strlen(words[i].text);

		if (len >= n && !strncasecmp(word + len - n, words[i].text, n) &&
		    (len == n || len - n >= words[i].before) && words[i].is > most)
			most = words[i].is;
	}
	return most;
}

enum secret_name secret_name_is(const char *name, size_t len)
{
	enum secret_name most = SECRET_NAME_NONE;
	size_t at = 0, start = 0, count = 0;

	while (at < len) {
		for (start = at; at < len && is_letter(name[at]);)
			at++;
		if (at == start) {
			at++;
			continue;
		}
		enum secret_name is = word_is(name + start, at - start);
		most = is > most ? is : most;
		count++;
	}
	/* The shell's own folder, and what only says where or how. */
	if (count == 1 && len == 3 && !strncasecmp(name, "pwd", 3))
		return SECRET_NAME_NONE;
	if (start < len &&
	    is_in(name + start, len - start, harmless_tails, ARRAY_SIZE(harmless_tails)))
		return SECRET_NAME_NONE;
	return most;
}

const char *secret_name_url_password(const char *value, size_t *ret_len)
{
	const char *authority = strstr(value, "://");

	if (!authority)
		return NULL;
	authority += strlen("://");
	size_t len = strcspn(authority, "/?# ");
	const char *host = NULL;
	for (const char *p = authority; p < authority + len; p++)
		if (*p == '@')
			host = p;
	const char *colon = host ? memchr(authority, ':', (size_t)(host - authority)) : NULL;
	if (!colon || colon + 1 == host)
		return NULL;
	*ret_len = (size_t)(host - colon) - 1;
	return colon + 1;
}
