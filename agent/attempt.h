/* One attempt of a run, and how the run ends with it. */
#ifndef AGENT_ATTEMPT_H
#define AGENT_ATTEMPT_H

#include "agent/run.h"

/* Whether an answer is expected of the run, or tests are given: from outside, not by a model. */
bool run_has_expectation(const struct run *r);

/* Whether the run's program is none of those before; it is one from now on. */
bool run_is_new(struct run *r);
/* The length without the blanks at the end: they make no other program. */
size_t run_trimmed(const char *code, size_t len);

void feedback_release(struct feedback *f);
/* The attempt failed: STEP_REPAIR when the budget has room, else STEP_END. Takes
 * what feedback owns. */
enum step run_attempt_failed(struct run *r, struct feedback feedback);
/* Puts into the result how the run ended: STEP_END. */
enum step run_finish(struct run *r, enum run_status status, const char *reason);
/* An answer without a program ends the run: well when no more is required, else
 * for the reason given. Takes answer. STEP_END. */
enum step run_answer_directly(struct run *r, char *answer, const char *why);
/* Adds a result to the record and shows it. Takes what result owns. */
void run_add_check(struct run *r, struct check_result *result);

#endif
