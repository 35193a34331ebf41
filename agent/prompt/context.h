/* What the prompts are filled with. */
#ifndef AGENT_PROMPT_CONTEXT_H
#define AGENT_PROMPT_CONTEXT_H

#include "agent/run.h"

/* [{"language","interpreter","version","digest","packages"}] of what is installed. */
struct json *run_environments(const struct loop *loop, struct error *err);
int run_context(struct run *r, struct error *err);
void run_context_requirements(struct run *r);

#endif
