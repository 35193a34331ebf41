/* A context as a run's record has it: all that a replay needs to make its state again. */
#ifndef AGENT_RECORD_CELLS_H
#define AGENT_RECORD_CELLS_H

#include "agent/context.h"
#include "audit/audit.h"

/* How many blobs context_record makes; NULL has none. */
size_t context_blobs(const struct context *c);
/* The cells as members of data ("context", "cells") and their bytes as blobs; names has room
 * for CELLS_NAME_SIZE bytes for each and outlives them. Nothing for NULL. */
#define CELLS_NAME_SIZE 64
void context_record(struct json *data, const struct context *c, struct audit_blob *blobs,
		    char *names);

#endif
