/* What many runs of a task say. */
#ifndef AGENT_BATCH_TALLY_H
#define AGENT_BATCH_TALLY_H

#include "base/json.h"

struct batch_results;

/* Of the results of tasks that the file has, those kept from before too: {"k", "tasks",
 * "runs", "pass@1", "pass^1", ...}; and the votes. The caller frees. */
struct json *batch_tally_repeats(const struct batch_results *r);
struct json *batch_tally_votes(const struct batch_results *r);

#endif
