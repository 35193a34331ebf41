/*
 * How models say "this is the program" other than by a fence: tool calls, tags,
 * indented code, the program alone. And what they send instead of one.
 */
#ifndef VERIFIER_CONVENTION_H
#define VERIFIER_CONVENTION_H

#include "base/json.h"
#include "verifier/reply/block.h"

#define CONVENTION_FENCE    "fence"
#define CONVENTION_EMPTY    "empty reply"
#define CONVENTION_THINKING "unclosed thinking"
#define CONVENTION_REFUSAL  "refusal"

struct convention_text {
	const char *reply;
	size_t len;
	size_t from;			 /* where the answer starts, after the thinking */
	bool thinking_open;		 /* the reply ends inside its thinking */
	const struct code_block *fenced; /* what its fences hold */
	size_t fenced_count;
	bool has_program; /* in a fence that never closes: only its form is in doubt */
};

/* The first convention that the reply follows, and its blocks; NULL: none, it is
 * prose. Some have no blocks: there is nothing in them to read. Static. */
const char *convention_read(const struct convention_text *text, struct code_block **ret,
			    size_t *ret_count);

/* Whether a JSON object carries a program: a tool call, or a plan with one in it. */
bool convention_is_call(const struct json *object);

#endif
