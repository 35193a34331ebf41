/* Handing out. */
#ifndef AGENT_BATCH_DISPATCH_H
#define AGENT_BATCH_DISPATCH_H

#include "agent/cli/batch/choose.h"

struct batch_results;
struct batch_watch;
struct redactor;

struct batch_dispatch {
	const struct batch *batch;
	struct batch_results *results;
	const struct batch_choice *choice;
	struct batch_watch *watch;
	struct redactor *redactor; /* for the lines that are the parent's own */
	size_t jobs, max_errors;
	int64_t deadline_ms; /* monotonic; 0: none */
};
/* Runs all. ended is why it ended early, if it did, with a result for whatever was
 * finished; -1 with err when results could not be written or workers not be had. */
int batch_dispatch(struct batch_dispatch *d, struct error *ended, struct error *err);

#endif
