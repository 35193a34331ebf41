/* From the reply to the program. */
#ifndef AGENT_STAGES_EXTRACT_H
#define AGENT_STAGES_EXTRACT_H

#include "base/error.h"

struct run;

int stage_extract(struct run *r, struct error *err);
void run_extract_begin(struct run *r);
void run_extract_release(struct run *r);

#endif
