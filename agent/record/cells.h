/* A context as a run's record has it: all that a replay needs to make its state again. */
#ifndef AGENT_RECORD_CELLS_H
#define AGENT_RECORD_CELLS_H

#include "agent/context.h"
#include "audit/audit.h"

/* The oldest cells stand in groups of so many: a blob each, an array of what stands alone of the
 * others, with the program (CELLS_CODE) and its input (CELLS_STDIN) where they are texts. */
#define CELLS_GROUP	 ((size_t)32)
#define CELLS_GROUP_NAME "cells_%zu"
#define CELLS_GROUPS	 "cell_groups" /* how many there are; absent: none */
#define CELLS_CODE	 "code"
#define CELLS_STDIN	 "stdin_text"
#define CELLS_CALLS	 "calls" /* it called tools: a blob (agent/call_cells.h) */
#define CELLS_CALLS_NAME "cell_%zu_calls"
#define CELLS_NAME_SIZE	 64

/* What blobs of context_record point at. Zeroed, it has nothing. */
struct cells_text {
	char *names;
	char **groups;
	size_t group_count;
};
void cells_text_release(struct cells_text *text);
#define cleanup_cells_text __attribute__((cleanup(cells_text_release)))

/* How many blobs context_record makes; NULL has none. */
size_t context_blobs(const struct context *c);
/* The cells as members of data ("context", "cells") and their bytes as blobs, which point into the
 * context and at text. Nothing for NULL. */
void context_record(struct json *data, const struct context *c, struct audit_blob *blobs,
		    struct cells_text *text);

#endif
