/*
 * What a reply is taken apart into, and what is chosen of it: the data that passes
 * between the parts of verifier/reply/. Found by extract_code (verifier/reply/extract.h).
 */
#ifndef VERIFIER_BLOCK_H
#define VERIFIER_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

enum extract_status {
	EXTRACT_OK,
	EXTRACT_NONE,	   /* no code at all */
	EXTRACT_AMBIGUOUS, /* blocks, but none can be told to be the program */
	EXTRACT_UNCLOSED,  /* the chosen block's fence never closes */
	EXTRACT_TRUNCATED, /* the same, and the reply was cut at its length limit */
};

struct code_block {
	char *lang;  /* canonical ("python"), or the first word of the info; owned; "" */
	char *info;  /* info string, entities and escapes as written; owned */
	char *fence; /* "```", "~~~~"; "" for bare code without a fence; owned */
	size_t start_line, end_line; /* of the fences, from 1; the last if unclosed */
	size_t start_byte, end_byte; /* of the fences in the reply */
	bool closed;
	bool tests;		/* by its info string or file name it holds tests */
	const char *run_as;	/* canonical language it would run as: named by the info string or
				 * a file name, or else told by the code; static; NULL: unknown */
	const char *foreign;	/* else: a programming language that does not run here; static */
	bool chosen;		/* what would run; several, when they are joined */
	bool imports_only;	/* of a block that joins: its lines of import alone */
	const char *convention; /* how it was marked as code: "fence", ...; static */
	char *why;		/* why chosen or not; owned */
	char *code;		/* content, byte-exact; owned; NUL-terminated */
	size_t code_len;
};

/* What would run: the chosen block, or several joined in their order. */
struct program {
	char *code; /* owned; NULL: none */
	size_t code_len;
	const char *run_as; /* static; NULL: a language that does not run here */
	const char *lang;   /* that, or the language of the block; its block's */
	char *joined;	    /* what was joined and why, in a sentence; owned; NULL: one block */
};

struct extract_options {
	const char *want_lang; /* canonical, or NULL */
	bool truncated;	       /* the reply ended at its length limit or was cut */
};

#endif
