/*
 * Telling code, strings and comments apart, by the lexer of the language's row.
 * Not a parser: it never fails, and text no lexer could make sense of is
 * called code, which is the side on which screening errs.
 */
#ifndef VERIFIER_LEXER_H
#define VERIFIER_LEXER_H

#include "verifier/lang/kind.h"

#include <stdbool.h>
#include <stddef.h>

struct lexed {
	unsigned char *kinds; /* enum lex_kind of each byte; owned. Quotes are code. */
	char *code;	      /* strings' contents and comments are blanks; owned */
	char *text;	      /* comments are blanks, strings stay; owned */
	size_t len;	      /* of all three; newlines stay where they are */
	size_t depth;	      /* of the deepest bracket nesting in code */
};

/* lang is canonical. Of one without a row everything is code. Linear. */
void lex_code(const char *lang, const char *code, size_t len, struct lexed *ret);
/* The same of a text that can be read in one way only; false, and all of it code, of any other. */
bool lex_sure(const char *lang, const char *code, size_t len, struct lexed *ret);
void lexed_release(struct lexed *x);
#define cleanup_lexed __attribute__((cleanup(lexed_release)))

#endif
