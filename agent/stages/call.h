/* Asking the model. */
#ifndef AGENT_STAGES_CALL_H
#define AGENT_STAGES_CALL_H

#include "agent/prompt/prompt.h"
#include "agent/run.h"

/* What only some calls have to say; members may be NULL. */
struct prompt_extra {
	const char *failing; /* the plan's checks that the output fails */
	const char *again;   /* what was wrong with the reply before */
};
/* What the model said and is asked about that, after its prompt. */
struct follow_up {
	const char *said, *request;
};
/* One call of a role, logged, within the budget. The reply is released by the
 * caller. follow_up may be NULL. */
int run_call(struct run *r, enum role role, const struct prompt *prompt,
	     const struct follow_up *follow_up, struct llm_reply *ret, struct error *err);
/* Fills the prompt of a role and makes its call. */
int run_ask(struct run *r, enum role role, const struct prompt_extra *extra, struct llm_reply *ret,
	    struct error *err);
int run_prompt(struct run *r, enum role role, const struct prompt_extra *extra, struct prompt *ret,
	       struct error *err);
/* Of each stream, in a prompt; the rest is said to be left out. */
#define RUN_OUTPUT_SHOWN ((size_t)6000)

#endif
