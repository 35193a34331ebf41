/* The words the person reads. */
#ifndef AGENT_STAGES_ANSWER_H
#define AGENT_STAGES_ANSWER_H

#include "base/error.h"

#include <stdbool.h>

struct run;

/* Whether prose may stand where the output would: nobody demands more of the
 * answer than a verdict is worth, and somebody writes answers. */
bool run_may_word(const struct run *r);
/* What text says that nothing behind it does, as verifier/ground/ground.h words it; or
 * NULL. Caller frees. */
char *run_ungrounded(const struct run *r, const char *text);
/* Tells the person why the output stands where prose was to. */
void run_tell_ungrounded(const struct run *r, const char *fault);
/* Careful: has the answer written, into r->draft, unless the output is it. */
int run_write_answer(struct run *r, struct error *err);

#endif
