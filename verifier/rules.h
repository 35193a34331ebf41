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
 *	tree ^import socket\b		PCRE2 on each fact of the program's syntax tree
 *					(verifier/tree.h); beside match or instead
 *	lang python			only for this language (in a user's file)
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
	size_t line;		/* of its file, from 1 */
	enum screen_action actions[2];	/* by SCREEN_STANDARD, SCREEN_STRICT */
	enum rule_view view;
	struct regex *re;	/* NULL: only a tree pattern */
	struct regex *tree;	/* NULL: only a text pattern */
	char *lang;		/* NULL: every language */
	char *message;
	struct rule_example *examples;
	size_t example_count;
};

struct ruleset {
	struct rule *rules;
	size_t count;
	char digest[HASH_HEX_LEN + 1];
	char *text;		/* as it was read; owned */
};

int ruleset_parse(const char *text, size_t len, struct ruleset *ret, struct error *err);
void ruleset_release(struct ruleset *set);

/* A user's file: ERR_CONFIG with "FILE: line N: ..." for what is wrong in it. */
#define RULESET_BYTES_MAX ((size_t)1 << 20)
int ruleset_read(const char *path, struct ruleset *ret, struct error *err);

/* The built-in rules of a language, parsed on first use and kept; NULL with
 * err when there are none. */
const struct ruleset *ruleset_builtin(const char *lang, struct error *err);

#endif
