/*
 * Screening rules: one readable file per language, verifier/rules/LANG.rules,
 * part of the binary. Entries are separated by blank lines; # starts a
 * comment line. Each line of an entry is a key and the rest:
 *
 *	rule py.import.network		its id
 *	standard deny			action in this profile (default allow)
 *	strict deny
 *	in code				what the pattern sees: `code` (strings and
 *					comments are blank), `text` (comments are
 *					blank; the match starts outside a string),
 *					`string` (a match starts inside one), or
 *					`any` (all but comments)
 *	match \bsocket\b		PCRE2, multi-line
 *	message ...			to the model
 *	yes import socket		must match; \n stands for a newline
 *	no # import socket		must not match
 */
#ifndef VERIFIER_RULES_H
#define VERIFIER_RULES_H

#include "base/error.h"
#include "base/hash.h"
#include "base/regex.h"
#include "verifier/screen.h"

#include <stdbool.h>
#include <stddef.h>

enum rule_view { RULE_CODE, RULE_TEXT, RULE_STRING, RULE_ANY };

struct rule_example {
	char *code;
	bool match;
};

struct rule {
	char *id;
	enum screen_action actions[2];	/* by SCREEN_STANDARD, SCREEN_STRICT */
	enum rule_view view;
	struct regex *re;
	char *message;
	struct rule_example *examples;
	size_t example_count;
};

struct ruleset {
	struct rule *rules;
	size_t count;
	char digest[HASH_HEX_LEN + 1];
};

int ruleset_parse(const char *text, size_t len, struct ruleset *ret, struct error *err);
void ruleset_release(struct ruleset *set);

/* The built-in rules of a language, parsed on first use and kept; NULL with
 * err when there are none. */
const struct ruleset *ruleset_builtin(const char *lang, struct error *err);

#endif
