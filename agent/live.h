/* The live ends of the loop: a real sandbox, the real clock. */
#ifndef AGENT_LIVE_H
#define AGENT_LIVE_H

#include "agent/loop.h"
#include "agent/prompt/inspections.h"

struct live {
	struct sandbox *sandbox; /* borrowed */
	int64_t begun_mono_ms;
	int cancel_fd;
	const struct progress *progress; /* is told of output; borrowed; may be NULL */
	struct inspections *seen;	 /* of the runs before; borrowed; NULL: none is kept */
	/* Bytes of standard output and error that were told of the program that ran last, and how
	 * many of them come once more (struct sandbox_port). */
	size_t told[2], known[2];
};
/* The ends borrow live. */
void live_execute(struct execute_ops *ret, struct live *live);
/* Before a run: ERR_USAGE where the sandbox cannot do what the task needs, which is a program and
 * its tests apart from each other. */
int live_check(const struct live *live, const struct policy *policy, const struct task *task,
	       struct error *err);
/* The run begins now. */
void live_clock(struct clock_ops *ret, struct live *live);

#endif
