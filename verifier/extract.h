/*
 * Finding the code in a model's reply: fenced code blocks by CommonMark 0.31
 * (sections 4.5, 5.1, 5.2), and the policy that says which one would run.
 */
#ifndef VERIFIER_EXTRACT_H
#define VERIFIER_EXTRACT_H

#include "base/error.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>

enum extract_status {
	EXTRACT_OK,
	EXTRACT_NONE,		/* no code at all */
	EXTRACT_AMBIGUOUS,	/* blocks, but none can be told to be the program */
	EXTRACT_UNCLOSED,	/* the chosen block's fence never closes */
	EXTRACT_TRUNCATED,	/* the same, and the reply was cut at its length limit */
};
const char *extract_status_name(enum extract_status status);

struct code_block {
	char *lang;		/* canonical ("python"), or the first word of the info; owned; "" */
	char *info;		/* info string, entities and escapes as written; owned */
	char *fence;		/* "```", "~~~~"; "" for bare code without a fence; owned */
	size_t start_line, end_line;	/* of the fences, from 1; the last if unclosed */
	size_t start_byte, end_byte;	/* of the fences in the reply */
	bool closed;
	bool tests;		/* by its info string or file name it holds tests */
	const char *run_as;	/* canonical language it would run as: named by the info string or
				 * a file name, or else told by the code; static; NULL: unknown */
	bool chosen;		/* what would run */
	char *why;		/* why chosen or not; owned */
	char *code;		/* content, byte-exact; owned; NUL-terminated */
	size_t code_len;
};

struct extraction {
	enum extract_status status;
	struct code_block *blocks;	/* in order; owned */
	size_t count;
};

struct extract_options {
	const char *want_lang;	/* canonical, or NULL */
	bool truncated;		/* the reply ended at its length limit or was cut */
};

int extract_code(const char *reply, size_t len, const struct extract_options *options,
		 struct extraction *ret, struct error *err);
void extraction_release(struct extraction *x);
#define cleanup_extraction __attribute__((cleanup(extraction_release)))

const struct code_block *extraction_chosen(const struct extraction *x);	/* or NULL */
const struct code_block *extraction_tests(const struct extraction *x);	/* or NULL */
struct json *extraction_json(const struct extraction *x);	/* as INTERFACE.md; caller frees */

#endif
