/* The model's verdict. */
#ifndef AGENT_STAGES_JUDGE_H
#define AGENT_STAGES_JUDGE_H

#include "verifier/check/check.h"

#include <stdbool.h>

struct json;
struct run;

/* Has output and answer judged. Adds the verdict, takes back checks of the plan
 * that were wrong guesses, and keeps the judge's own wording in r->draft. */
int run_judge(struct run *r, struct error *err);
bool run_has_judge(const struct run *r);
/* A call whose failure must not look like a verdict: noted, and the run's
 * status if nothing else verifies it. -1 only for what ends the run. */
int run_could_not_ask(struct run *r, const char *kind, enum check_source source, struct error *err);
/* Why the first of those could not be asked; ERR_NONE: none. */
const struct error *run_not_asked(const struct run *r);
/* Kinds of the plan's checks that the judge took back; NULL: none. */
const struct json *run_withdrawn(const struct run *r);
void run_judge_begin(struct run *r);
void run_judge_release(struct run *r);

#endif
