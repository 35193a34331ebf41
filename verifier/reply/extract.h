/*
 * Finding the code in a model's reply: fenced code blocks by CommonMark 0.31
 * (sections 4.5, 5.1, 5.2), and the policy that says which one would run.
 */
#ifndef VERIFIER_EXTRACT_H
#define VERIFIER_EXTRACT_H

#include "base/error.h"
#include "base/json.h"
#include "verifier/reply/block.h"

#include <stddef.h>

const char *extract_status_name(enum extract_status status);

struct extraction {
	enum extract_status status;
	const char *convention;	   /* of what was read, or what the reply is instead; static */
	struct code_block *blocks; /* in order; owned */
	size_t count;
	struct program program;
};

int extract_code(const char *reply, size_t len, const struct extract_options *options,
		 struct extraction *ret, struct error *err);
void extraction_release(struct extraction *x);
#define cleanup_extraction __attribute__((cleanup(extraction_release)))

/* The block the choice fell on: the last of those that are joined. Or NULL. */
const struct code_block *extraction_chosen(const struct extraction *x);
const struct code_block *extraction_tests(const struct extraction *x); /* or NULL */
struct json *extraction_json(const struct extraction *x);	       /* caller frees */

#endif
