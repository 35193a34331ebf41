/* A person at the terminal who says what may run. */
#ifndef AGENT_APPROVER_H
#define AGENT_APPROVER_H

#include "agent/cli/terminal/approvals.h"
#include "agent/loop.h"

struct approver {
	struct terminal *term;	    /* to ask at; borrowed */
	struct approvals approvals; /* of this session; owned */
	const struct task *task;    /* that is run; borrowed */
	int cancel_fd;
	bool may_ask; /* stdin and stderr are terminals */
};
/* The end borrows who. */
void approver_end(struct approve_ops *ret, struct approver *who);

#endif
