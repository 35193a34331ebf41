/*
 * Input that comes while a command runs: its end of the calls by which the program asks for it.
 */
#ifndef AGENT_DOORS_E2B_INPUT_H
#define AGENT_DOORS_E2B_INPUT_H

#include "agent/doors/e2b/e2b.h"
#include "agent/loop.h"

/* Of one command, as long as it runs. */
struct live_input {
	struct tool_ops ops; /* for its loop */
	struct box *box;
	struct box_process *process;
	struct json *tools; /* owned */
};
void live_input_init(struct live_input *in, struct box *box, struct box_process *process);
void live_input_release(struct live_input *in);

/* False: it is none. */
bool input_read_size(const struct json *pty, struct box_process *process);

#endif
