/* The model looks first. */
#ifndef AGENT_STAGES_LOOK_H
#define AGENT_STAGES_LOOK_H

#include "base/error.h"

struct run;

/* Runs the blocks of the reply that are marked "look" and has the model go on: STEP_AGAIN with its
 * next reply; STEP_ON when there was none that may run, with none left in the reply. */
int run_look(struct run *r, struct error *err);
void run_look_begin(struct run *r);
void run_look_release(struct run *r);

#endif
