/* Plan, program and repair, in the model's words. */
#ifndef AGENT_STAGES_WRITE_H
#define AGENT_STAGES_WRITE_H

#include "agent/run.h"

int stage_plan(struct run *r, struct error *err);
int stage_code(struct run *r, struct error *err);
int stage_repair(struct run *r, struct error *err);
/* The language that was asked for, by the task, the user or the plan; or NULL. */
const char *run_wanted_language(const struct run *r);
/* The reply held no program (what came instead, in a sentence): asked for without
 * counting an attempt. */
int run_ask_again(struct run *r, const char *what, struct error *err);

/* The same, but that nothing was wrong with the reply before: request says what is new. */
int run_ask_on(struct run *r, const char *request, struct error *err);
void run_write_begin(struct run *r);
void run_write_release(struct run *r);

#endif
