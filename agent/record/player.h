/*
 * The recorded ends: a run's events played back to the loop. The loop cannot
 * tell them from the live ones, and below tier `model` no network call can
 * happen because there is no live model to make it.
 */
#ifndef AGENT_PLAYER_H
#define AGENT_PLAYER_H

#include "agent/loop.h"
#include "agent/record/recording.h"

void recorded_llm(struct llm *ret, struct recording *r);
void recorded_execute(struct execute_ops *ret, struct recording *r);
/* Whether an execution came to what the record has of it (how it ended and what it left);
 * also when the record has none. To be asked before recorded_took. */
bool recorded_result_is(struct recording *r, int attempt, const struct sandbox_result *result);
/* What the record has of its standard output; NULL with 0 when it has none. Caller frees. */
char *recorded_output(struct recording *r, int attempt, size_t *ret_len);
/* What calls of its programs came to: nothing is called. */
void recorded_tools(struct tool_ops *ret, struct recording *r);
/* Those of an attempt, as struct tool_ops' served; without all, but for one that ended the program
 * for want of a yes. Caller frees. */
struct json *recorded_calls(const struct recording *r, int attempt, bool all);
/* Makes them once more at this port, as that attempt's program did. */
void recorded_play_calls(const struct recording *r, int attempt, const struct sandbox_port *port);
void recorded_clock(struct clock_ops *ret, struct recording *r);
void recorded_approve(struct approve_ops *ret, struct recording *r);
/* The wall limit of the next execution of an attempt: what the budgets had left
 * then is not what they leave now. */
int64_t recorded_wall_limit(struct recording *r, int attempt, int64_t otherwise_ms);
/* What that execution took; asked once after each. */
void recorded_took(struct recording *r, int attempt, const struct sandbox_result *result,
		   struct sandbox_metrics *ret);
/* Only what is installed and what the inputs hold, from the record: for live
 * execution under recorded prompts. */
int recorded_describe(void *self, const struct language *language, struct sandbox_environment *ret,
		      struct error *err);
/* As it was told then; false where it was not. */
bool recorded_needs(void *self, const char *stage, int attempt, const struct language *language,
		    const struct cell *list, size_t count, bool *ret_used);
int recorded_inspect(void *self, const struct sandbox_file *file, int64_t wall_ms,
		     struct inspection *ret, struct error *err);

#endif
