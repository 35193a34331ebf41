/*
 * Screening rules: one readable file per language, verifier/lang/LANG/LANG.rules,
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
 *					(verifier/screen/tree.h); beside match or instead
 *	unless ^import (math|re)$	not the facts that this matches: what is allowed;
 *					one line or many
 *	when unparsed			match counts only where the program's own parser has
 *					not read it: the tree says the same, and better
 *	when unproven			the rule counts only where the tree does not say that
 *					all of the program is on the list, and its files known:
 *					what stands in a text is then no more than text
 *	lang python			only for this language (in a user's file)
 *	message ...			to the model
 *	yes import socket		must match; \n stands for a newline
 *	no # import socket		must not match
 *
 * An entry of a user's file may also be a line
 *
 *	allow networkx*			what is refused for not being on the list of the
 *					profile strict (verifier/lang/python/python.allow), by the
 *					name the finding tells; * stands for any rest
 */
#ifndef VERIFIER_RULES_H
#define VERIFIER_RULES_H

#include "base/error.h"
#include "base/hash.h"
#include "base/regex.h"
#include "verifier/screen/profile.h"

#include <stdbool.h>
#include <stddef.h>

enum rule_when { RULE_ALWAYS, RULE_UNPARSED, RULE_UNPROVEN };
enum rule_view { RULE_CODE, RULE_TEXT, RULE_STRING, RULE_ANY };

struct rule_example {
	char *code;
	bool match;
};

struct rule {
	char *id;
	size_t line;		       /* of its file, from 1 */
	enum screen_action actions[2]; /* by SCREEN_STANDARD, SCREEN_STRICT */
	enum rule_view view;
	struct regex *re;   /* NULL: only a tree pattern */
	struct regex *tree; /* NULL: only a text pattern */
	enum rule_when when;
	struct regex *unless; /* NULL: of the facts, none is allowed */
	char *allowed;	      /* its text, of all lines; owned */
	char *lang;	      /* NULL: every language */
	char *message;
	struct rule_example *examples;
	size_t example_count;
};

struct ruleset {
	struct rule *rules;
	size_t count;
	char **allowed; /* names and globs of them; owned */
	size_t allowed_count;
	char digest[HASH_HEX_LEN + 1];
	char *text; /* as it was read; owned */
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
