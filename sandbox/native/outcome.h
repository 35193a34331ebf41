/* How a run ended. */
#ifndef NATIVE_OUTCOME_H
#define NATIVE_OUTCOME_H

#include "sandbox/native/protocol.h"
#include "sandbox/sandbox.h"

/* Sets outcome, exit_code, signal and detail from what the kernel said. */
void outcome_decide(const struct protocol_result *facts, const struct sandbox_limits *limits,
		    bool memory_by_cgroup, struct sandbox_result *result);

#endif
