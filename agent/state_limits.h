/*
 * Limits that the programs of a context share, since what one left is there in the next:
 * memory, processes, open files, disk. A state that was made within some can be had again within
 * those, and no smaller ones, so that a later program has the largest of them. Time, output and
 * artifacts are each program's own.
 */
#ifndef AGENT_STATE_LIMITS_H
#define AGENT_STATE_LIMITS_H

#include "base/json.h"
#include "sandbox/sandbox.h"

/* No further than to what a record may have of this machine. */
void state_limits_raise(struct sandbox_limits *limits, const struct sandbox_limits *by);
/* "memory 256.0 MiB, disk 8.0 MiB": those that were raised, to what; NULL: none was. Caller frees.
 */
char *state_limits_told(const struct sandbox_limits *limits, const struct sandbox_limits *raised);
/* NULL where all are the usual ones. Caller frees. */
struct json *state_limits_json(const struct sandbox_limits *limits);
/* The usual ones where object (NULL: all) has none; false: it has one that is none. */
bool state_limits_read(const struct json *object, struct sandbox_limits *ret);

#endif
