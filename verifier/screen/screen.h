/*
 * Static screening of code before it runs: rules over code whose strings and
 * comments are told apart. On the only path to the sandbox.
 */
#ifndef VERIFIER_SCREEN_H
#define VERIFIER_SCREEN_H

#include "base/error.h"
#include "base/json.h"
#include "verifier/screen/profile.h"

#include <stdbool.h>
#include <stddef.h>

struct rulebook;
struct ruleset;
struct sandbox;
struct tree;

struct screen_finding {
	char *rule; /* "py.import.socket"; owned */
	enum screen_action action;
	bool approved;	     /* a confirm that options->allow names: as good as a warning */
	size_t line, column; /* from 1, column in bytes */
	char *message;	     /* to the model; owned */
	char *excerpt;	     /* the line, cut; owned */
	char *match;	     /* what of it the rule found, cut; NULL: not told; owned */
};

struct screening {
	enum screen_action verdict; /* the strongest action found that is not approved */
	enum screen_profile profile;
	const char *allow;		 /* while it is made: borrowed from the options */
	char *lang;			 /* owned */
	struct screen_finding *findings; /* owned */
	size_t count;
	char ruleset[65]; /* SHA-256 of the rules applied and of what reads trees */
	/* The program is not valid in its language, as its own parser found:
	 * NULL unless a tree was given that says so. Owned. */
	char *syntax_type, *syntax_message;
	size_t syntax_line, syntax_column;
};

struct screen_options {
	enum screen_profile profile;
	const struct rulebook *book; /* in place of the built-in ones; or NULL */
	const struct ruleset *rules; /* a user's, beside these; or NULL */
	/* Rule ids and globs of them, by commas: findings to be confirmed are approved
	 * beforehand; those that are denied stay so. NULL: none. */
	const char *allow;
	const struct tree *tree; /* of this very code; NULL: the text alone is looked at */
};

/* Whether that rule is one of allow, as in the options; not NULL. */
bool screen_allows(const char *allow, const char *rule);

/* lang is canonical ("python"); an unknown one is screened by no rule: an
 * error. Bytes that no program may hold (NUL) are a deny finding. */
int screen_code(const char *lang, const char *code, size_t len,
		const struct screen_options *options, struct screening *ret, struct error *err);
/* What the language's parser finds in code, as far as the profile asks for it. Fails
 * as tree_read does. */
int screen_read(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		size_t len, enum screen_profile profile, struct tree *ret, struct error *err);
/* A program of that language is being written: a hint, as sandbox_prepare. */
void screen_expect(struct sandbox *sandbox, const char *lang, enum screen_profile profile);

/* The same with the tree read first, in the sandbox (options->tree is not
 * looked at); sandbox may be NULL when screen_needs_sandbox says false. */
int screen_program(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		   size_t len, const struct screen_options *options, struct screening *ret,
		   struct error *err);
bool screen_needs_sandbox(const char *lang, enum screen_profile profile);
void screening_release(struct screening *s);
#define cleanup_screening __attribute__((cleanup(screening_release)))
struct json *screening_json(const struct screening *s); /* caller frees */

#endif
