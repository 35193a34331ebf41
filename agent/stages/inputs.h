/* The inputs that stay where they are. */
#ifndef AGENT_STAGES_INPUTS_H
#define AGENT_STAGES_INPUTS_H

#include "base/error.h"

struct run;

/* Begins to compute their digests, beside all that follows. */
void run_inputs_begin(struct run *r);
/* Waits for those, looks whether an input has changed since the run began, and has both in the
 * record. Nothing without such inputs. */
int run_inputs_end(struct run *r, struct error *err);
void run_inputs_release(struct run *r); /* begun or not */

#endif
