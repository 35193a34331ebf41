/* Which tasks are run. */
#ifndef AGENT_BATCH_CHOOSE_H
#define AGENT_BATCH_CHOOSE_H

#include "agent/cli/batch/batch.h"

struct batch_results;

struct batch_choice {
	struct batch_unit *units; /* owned, in order */
	size_t count;
	size_t sound;	/* of those: what a worker, and so a model, is needed for */
	size_t tasks;	/* that were to have results, with those that have them */
	size_t runless; /* runs that --rescore has no result of */
};
/* What --only names, of these what --sample draws, without what has a result that
 * stands, at most --limit. */
int batch_choose(struct batch_choice *ret, const struct batch *batch, struct batch_results *results,
		 struct error *err);

#endif
