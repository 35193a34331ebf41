/* What some runs of some tasks say of all the runs there might be. */
#ifndef AGENT_ESTIMATE_H
#define AGENT_ESTIMATE_H

#include "base/json.h"

#include <stddef.h>

/* The runs of one task. */
struct estimate_task {
	size_t runs, success;
};

/* A share of n that may be trusted so far, with Wilson's interval of 95 %: {"value", "low",
 * "high", "n"}. n is 1 or more. The caller frees. */
struct json *estimate_share(double share, size_t n);

/* Sets "pass@K" and "pass^K" of object, for K from 1 to most, as means over the tasks that
 * have K runs; neither where none has. */
void estimate_passes(struct json *object, const struct estimate_task *tasks, size_t count,
		     size_t most);

#endif
