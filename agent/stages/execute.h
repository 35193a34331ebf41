/* What happened. */
#ifndef AGENT_STAGES_EXECUTE_H
#define AGENT_STAGES_EXECUTE_H

#include "base/error.h"

struct run;

int stage_execute(struct run *r, struct error *err);
/* Drops what an earlier attempt left behind, its checks included. */
void run_forget_execution(struct run *r);

#endif
