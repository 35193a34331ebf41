/*
 * What the outlines of verifier/lang/NAME/outline.c are made of: one statement of a block
 * at a time, and what was seen before it. Theirs and outline.c's only.
 */
#ifndef VERIFIER_LINER_H
#define VERIFIER_LINER_H

#include "verifier/reply/token.h"

#include <stdbool.h>
#include <stddef.h>

struct outline; /* verifier/reply/outline.h */

#define LEVELS_MAX 64

struct level {
	size_t column;
	bool inside; /* in a function or class */
	bool function;
};

struct liner {
	struct outline *o;
	const struct outline_row *row;
	const struct token *t; /* of one statement */
	size_t n;
	struct level levels[LEVELS_MAX];
	size_t level;
	bool wants_suite;  /* the statement before ends in a colon */
	struct level next; /* what its suite is */
	size_t statements, values, tests, neutral;
	bool last_is_value;
};

/* What an outline needs to know of a language. */
struct outline_row {
	struct token_traits tokens;
	const char *const *words;    /* that are no names; NULL-terminated */
	const char *const *builtins; /* names that are there without anyone's help */
	void (*statement)(struct liner *l);
};

void liner_note(struct liner *l, const struct token *t, unsigned flags);
/* Deep: it is seen inside a function or class only. */
void liner_bind(struct liner *l, const struct token *t, bool deep, unsigned given);
const struct token *liner_at(const struct liner *l, size_t i); /* NULL past the end */
bool liner_one_of(const struct token *t, const char *const *words);
bool liner_is_word(const struct liner *l, const struct token *t);
bool liner_inside(const struct liner *l);
bool liner_is_operand(const struct liner *l, const struct token *t);
/* A single "=", which is part of no other operator. */
bool liner_is_assign(const struct liner *l, size_t i);
size_t liner_find_assign(const struct liner *l); /* l->n: there is none */
/* A name that stands for itself: no member, no key of an argument. */
bool liner_is_plain(const struct liner *l, size_t i);
bool liner_has_call(const struct liner *l);
void liner_fault(struct liner *l, const char *what);
/* Says a fault of l when is_bad finds one in the statement without what is inside strings. */
void liner_judge_form(struct liner *l, bool (*is_bad)(const struct liner *bare, size_t i));

#endif
