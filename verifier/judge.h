/* The model's own verdict on an output; never worth more than `judged`. */
#ifndef VERIFIER_JUDGE_H
#define VERIFIER_JUDGE_H

#include "verifier/check/check.h"

#include <stdbool.h>
#include <stddef.h>

struct judgement {
	struct check_result check; /* VERDICT_ERROR: nothing that can be read */
	char *answer;		   /* in the judge's words; owned; NULL: the output is it */
	struct json *withdraw;	   /* kinds of checks that were wrong guesses; owned or NULL */
};

/* Reads {"verdict":"pass|fail","reason":"..."} out of a reply (bare, fenced, or
 * in prose), in the shapes that models give it: {"pass":true}, "PASS",
 * "**Verdict:** pass". Whatever else came is VERDICT_ERROR, and so are two
 * verdicts that differ: one may be quoted from the output that is judged.
 * quotable: that speaks of verdicts, so only an object that is the reply, or all
 * of a fenced block, is the judge's own word. */
void judge_read(const char *reply, size_t len, bool quotable, struct judgement *ret);
void judgement_release(struct judgement *j);

/* The first JSON object of a reply that is one, or holds one in a fenced
 * block, or has it surrounded by prose; NULL when there is none. */
struct json *judge_find_object(const char *reply, size_t len);

/* The verdict in words, or VERDICT_ERROR; *ret_several: because they differ. */
enum verdict judge_words(const char *text, size_t len, bool *ret_several);
/* Whether an output holds words that a verdict is made of. */
bool judge_is_quotable(const char *output, size_t len);

#endif
