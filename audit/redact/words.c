/*
 * Lists of words, and whether a text is made of them, or has one of them. Decides nothing more,
 * and keeps nothing.
 */
#include "audit/redact/words.h"

#include "base/mem.h"

#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_one_of(const char *word, size_t len, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(words[i]) == len && !strncasecmp(words[i], word, len))
			return true;
	return false;
}

bool words_are_suffix(const char *text, size_t len)
{
	static const char *const words[] = {
		"key",	"id",	 "base",   "value",  "val",  "text", "plain", "plaintext",
		"new",	"old",	 "again",  "access", "auth", "prod", "dev",   "test",
		"live", "token", "secret", "b64",    "pem",  "main", "api",   "confirmation",
	};
	size_t at = 0;

	while (at < len) {
		size_t start;

		if (strchr("_-.", text[at]) || (text[at] >= '0' && text[at] <= '9')) {
			at++;
			continue;
		}
		for (start = at++; at < len && is_letter(text[at]);) {
			/* camelCase begins a word */
			if (text[at] >= 'A' && text[at] <= 'Z' && text[at - 1] >= 'a')
				break;
			at++;
		}
		if (!is_one_of(text + start, at - start, words, ARRAY_SIZE(words)))
			return false;
	}
	return true;
}

bool words_stand_in(const char *value, size_t len)
{
	static const char *const words[] = {
		"none",	  "null",	 "undefined",  "string",   "bytes",   "boolean",
		"object", "optional",	 "required",   "password", "passwd",  "passphrase",
		"secret", "token",	 "credential", "false",	   "integer", "default",
		"number", "passwords",	 "hidden",     "redacted", "unknown", "username",
		"empty",  "credentials",
	};

	return is_one_of(value, len, words, ARRAY_SIZE(words));
}

bool words_are_said(const char *value, size_t len)
{
	static const char *const words[] = {
		"password", "passwords", "passphrase", "passcode",   "enter",	"please",
		"your",	    "must",	 "should",     "cannot",     "invalid", "incorrect",
		"wrong",    "required",	 "missing",    "empty",	     "confirm", "forgot",
		"reset",    "least",	 "characters", "character",  "user",	"username",
		"field",    "value",	 "string",     "credential", "login",	"account",
	};
	size_t start = 0;

	for (size_t at = 0; at <= len; at++) {
		if (at < len && is_letter(value[at]))
			continue;
		if (is_one_of(value + start, at - start, words, ARRAY_SIZE(words)))
			return true;
		start = at + 1;
	}
	return *value == ' ' || strchr(" \t:?.,", value[len - 1]) || memchr(value, '{', len) ||
	       memchr(value, '%', len) || memchr(value, '<', len);
}
