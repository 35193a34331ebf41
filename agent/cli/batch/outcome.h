/* What a line of the results says of a task's run. */
#ifndef AGENT_BATCH_OUTCOME_H
#define AGENT_BATCH_OUTCOME_H

#include "agent/cli/batch/batch.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct batch_outcome {
	char *id, *status, *level, *error; /* owned; error may be NULL */
	/* Kept for a table and a vote alone; owned; may be NULL. What a run without an
	 * answer printed is its vote, or a vote would know which runs failed. */
	char *answer, *output, *run;
	int64_t attempts, input_tokens, output_tokens;
	double cost_usd;	     /* NaN: not known */
	char key[BATCH_KEY_LEN + 1]; /* "": none */
	uint32_t repeat;
	int64_t duration_ms;
	size_t start, len; /* of its line, when it is from before */
	bool dropped;	   /* to be run again */
	bool named;	   /* of a task that the file has */
	bool unfinished;   /* the provider or the sandbox was not there */
};

/* What a result's line says; answer and run only when they are wanted. */
void batch_outcome_read(struct batch_outcome *ret, const struct json *line, bool answers);
void batch_outcome_release(struct batch_outcome *o);

#endif
