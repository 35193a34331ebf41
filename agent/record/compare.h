/* Two runs side by side: the first divergence and the rest. */
#ifndef AGENT_COMPARE_H
#define AGENT_COMPARE_H

#include "agent/record/recording.h"
#include "base/json.h"

/*
 * Compares the results of each stage, in order. ret_stages becomes
 * [{"stage","attempt","same","differences":[{"field","before","after"}]}],
 * ret_first the first stage that differs (a copy, or NULL). What may differ
 * from run to run (times, memory, tries, request ids) is left out, and what a model was asked where
 * the record cannot say it again (prompts_unknown). Runs whose status, level, reason or answer
 * differ have one stage more, "end". A run without an end is compared with its replays as far as it
 * came. Caller frees both.
 */
void compare_runs(const struct recording *before, const struct recording *after,
		  struct json **ret_stages, struct json **ret_first);

#endif
