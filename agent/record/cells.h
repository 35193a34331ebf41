/* A context in a run's record: all that a replay needs to make its state again. */
#ifndef AGENT_RECORD_CELLS_H
#define AGENT_RECORD_CELLS_H

#include "agent/context.h"
#include "agent/record/recorded.h"

/* How many blobs context_record makes; NULL has none. */
size_t context_blobs(const struct context *c);
/* The cells as members of data ("context", "cells") and their bytes as blobs; names has room
 * for JOURNAL_NAME_SIZE bytes for each and outlives them. Nothing for NULL. */
void context_record(struct json *data, const struct context *c, struct audit_blob *blobs,
		    char *names);

/* Whether the event has one; and what it is. On failure ret is to be released, too. */
bool context_recorded(const struct json *data);
int context_load(const struct recording *r, const struct json *data, struct context *ret,
		 struct error *err);

/* The context as it was when that run had ended well: what it started from, and its own
 * program, when that left a state. A run without one gives a context of its program alone. */
int context_after(const struct recording *r, struct context *ret, struct error *err);

#endif
