/* How the input files begin. */
#ifndef AGENT_PROMPT_PREVIEW_H
#define AGENT_PROMPT_PREVIEW_H

#include "base/error.h"

struct run;

/* *ret: for the prompts, "" without files; owned by the caller. What is no text
 * is looked into in the sandbox. */
int run_previews(struct run *r, char **ret, struct error *err);

#endif
