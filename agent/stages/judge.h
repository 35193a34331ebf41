/* The model's verdict. */
#ifndef AGENT_STAGES_JUDGE_H
#define AGENT_STAGES_JUDGE_H

#include "verifier/check/check.h"

#include <stdbool.h>

struct run;

/* Has output and answer judged. Adds the verdict, takes back checks of the plan
 * that were wrong guesses, and keeps the judge's own wording in r->draft. */
int run_judge(struct run *r, struct error *err);
bool run_has_judge(const struct run *r);
/* A call whose failure must not look like a verdict: noted, and the run's
 * status if nothing else verifies it. -1 only for what ends the run. */
int run_could_not_ask(struct run *r, const char *kind, enum check_source source, struct error *err);

#endif
