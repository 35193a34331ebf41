/*
 * The words of a program with an outline, on top of the lexer: enough to
 * see its statements and the names in them, far less than a parser.
 */
#ifndef VERIFIER_TOKEN_H
#define VERIFIER_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

enum token_kind { TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_OP };

struct token {
	enum token_kind kind;
	const char *s; /* in the code; an operator is one character */
	size_t len;
	size_t depth;  /* open brackets around it, or around the pair it belongs to */
	size_t column; /* of the first on its line */
	bool newline;  /* the first on its line */
	bool inner;    /* a name in an expression inside the string before it */
};

struct token_list {
	struct token *tokens; /* owned */
	size_t count, cap;
	const char *fault; /* what keeps it from being whole; static; or NULL */
};

/* How a language writes what the lexer leaves open. */
struct token_traits {
	const char *quotes;   /* that begin a string */
	const char *prefixes; /* letters of a string, before the quote; may be "" */
	bool triple;	      /* three quotes are a quote */
	bool formats;	      /* an expression in a string may end in a format */
	bool regex;	      /* between slashes */
	bool continues;	      /* a line that ends in a backslash */
};

/* lang is canonical; the tokens point into code. Linear. */
void token_read(const char *lang, const struct token_traits *traits, const char *code, size_t len,
		struct token_list *ret);
void token_list_release(struct token_list *list);
#define cleanup_tokens __attribute__((cleanup(token_list_release)))

bool token_is(const struct token *t, const char *text); /* NULL is nothing */

#endif
