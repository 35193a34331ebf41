/* A context out of the record (agent/record/cells.h has what it is there). */
#ifndef AGENT_RECORDED_CELLS_H
#define AGENT_RECORDED_CELLS_H

#include "agent/context.h"
#include "agent/record/recording.h"

/* Whether the event has one; and what it is. On failure ret is to be released, too. */
bool context_recorded(const struct json *data);
int context_load(const struct recording *r, const struct json *data, struct context *ret,
		 struct error *err);

/* The last execution of the run's own program, not of tests or another, that came to its end,
 * and its announcement; NULL: there is none, or it left no state in its context. */
const struct recorded_event *context_execution(const struct recording *r,
					       const struct recorded_event **ret_started);

/* The context as it was when that run had ended well: what it started from, and its own
 * program, when that left a state. A run without one gives a context of its program alone. */
int context_after(const struct recording *r, struct context *ret, struct error *err);

#endif
