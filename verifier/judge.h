/* The model's own verdict on an output; never worth more than `judged`. */
#ifndef VERIFIER_JUDGE_H
#define VERIFIER_JUDGE_H

#include "verifier/check.h"

#include <stddef.h>

/* Reads {"verdict":"pass|fail","reason":"..."} out of a reply (bare, or in
 * its only fenced block). Whatever else came is VERDICT_ERROR, and so are two
 * verdicts that differ: one may be quoted from the output that is judged. */
void judge_read(const char *reply, size_t len, struct check_result *ret);

/* The first JSON object of a reply that is one, or holds one in a fenced
 * block, or has it surrounded by prose; NULL when there is none. */
struct json *judge_find_object(const char *reply, size_t len);

#endif
