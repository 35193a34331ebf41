/* What it is worth. */
#ifndef AGENT_STAGES_VERIFY_H
#define AGENT_STAGES_VERIFY_H

#include "base/error.h"

struct run;

int stage_verify(struct run *r, struct error *err);
void run_verify_begin(struct run *r);
void run_verify_release(struct run *r);

#endif
