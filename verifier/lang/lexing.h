/*
 * What the lexers of verifier/lang/NAME/lexer.c are made of: a place in the code that
 * marks what it steps over. Theirs only; everybody else sees verifier/lang/lexer.h.
 */
#ifndef VERIFIER_LEXING_H
#define VERIFIER_LEXING_H

#include "verifier/lang/kind.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Expressions inside strings inside expressions ... deeper is called code. */
#define NESTING_MAX 32

struct lexer {
	const char *s;
	size_t len, at;
	unsigned char *kinds;
	int nesting;
};

/* Lexes code up to `until`, or to the end when that is NUL. */
#define LEX_FN(name) void (*name)(struct lexer * l, char until)

static inline char lex_look(const struct lexer *l, size_t ahead)
{
	return l->at + ahead < l->len ? l->s[l->at + ahead] : '\0';
}

/* Marks the next n bytes and steps over them. */
static inline void lex_take(struct lexer *l, size_t n, enum lex_kind kind)
{
	if (n > l->len - l->at)
		n = l->len - l->at;
	memset(l->kinds + l->at, (int)kind, n);
	l->at += n;
}

static inline void lex_take_line(struct lexer *l, enum lex_kind kind)
{
	const char *nl = memchr(l->s + l->at, '\n', l->len - l->at);

	lex_take(l, nl ? (size_t)(nl - l->s) - l->at : l->len - l->at, kind);
}

/* An expression in a string: `open` bytes, code up to `until`, that too. */
static inline void lex_take_nested(struct lexer *l, size_t open, LEX_FN(lex), char until)
{
	lex_take(l, open, LEX_CODE);
	if (l->nesting >= NESTING_MAX)
		return;
	l->nesting++;
	lex(l, until);
	l->nesting--;
}

/* Whether c ends the nested expression; brackets of its kind are counted. */
static inline bool lex_ends_nested(char c, char until, int *depth)
{
	if (!until)
		return false;
	if (c == '{' || c == '(')
		++*depth;
	else if (c == '}' || c == ')')
		return (*depth)-- == 0 && c == until;
	return false;
}

static inline bool lex_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

#endif
