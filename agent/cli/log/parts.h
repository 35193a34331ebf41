/* Which parts of a batch logs are. Internal to agent/cli/log. */
#ifndef AGENT_LOG_PARTS_H
#define AGENT_LOG_PARTS_H

#include "agent/cli/log/log.h"
#include "base/json.h"

struct log_parts {
	struct json *missing, *incomplete; /* arrays of numbers, from 1 */
};
/* Of the logs that are the command's arguments. -1 with err when they are parts of different
 * batches. */
int log_parts_read(struct log_parts *ret, const struct log *log, struct error *err);
void log_parts_release(struct log_parts *parts);

#endif
