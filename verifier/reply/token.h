/*
 * The words of a program with an outline, on top of the lexer: enough to
 * see its statements and the names in them, far less than a parser.
 */
#ifndef VERIFIER_TOKEN_H
#define VERIFIER_TOKEN_H

#include "verifier/lang/lexer.h"

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
	bool variable; /* a name with a sign before it, which is no part of s */
};

struct token_list {
	struct token *tokens; /* owned */
	size_t count, cap;
	const char *fault; /* what keeps it from being whole; static; or NULL */
};

struct token_reader;

/* How a language writes what the lexer leaves open. */
struct token_traits {
	const char *quotes;   /* that begin a string */
	const char *prefixes; /* letters of a string, before the quote; may be "" */
	bool triple;	      /* three quotes are a quote */
	bool formats;	      /* an expression in a string may end in a format */
	bool regex;	      /* between slashes */
	bool continues;	      /* a line that ends in a backslash */
	/* What only this language has, or NULL (below): takes the token that
	 * begins with c, a byte of code, or says that it is none of those; and takes bytes of a
	 * text that no quote of this list began, one at least. */
	bool (*special)(struct token_reader *r, char c);
	void (*text)(struct token_reader *r);
};

/* lang is canonical; the tokens point into code. Linear. */
void token_read(const char *lang, const struct token_traits *traits, const char *code, size_t len,
		struct token_list *ret);
void token_list_release(struct token_list *list);
#define cleanup_tokens __attribute__((cleanup(token_list_release)))

bool token_is(const struct token *t, const char *text); /* NULL is nothing */

/* --- for a language that reads some tokens of its own: a place, and the brackets around it --- */

/* Deeper brackets are not followed. */
#define TOKEN_DEPTH_MAX 256

struct token_reader {
	struct lexed x;
	const char *code;
	size_t at;
	const struct token_traits *traits;
	struct token_list *list;
	char open[TOKEN_DEPTH_MAX]; /* the brackets around the place */
	size_t depth, strings;	    /* strings: those that names are inside of */
	bool newline;		    /* no token yet on this line */
	size_t line_start;
};

/* A token at the place, which stays; until the next one. */
struct token *token_add(struct token_reader *r, enum token_kind kind, size_t len);
/* Takes a bracket, and tells one that closes nothing. */
void token_bracket(struct token_reader *r, char c);
void token_fault(struct token_reader *r, const char *what);
bool token_is_code(const struct token_reader *r, size_t at);

#endif
