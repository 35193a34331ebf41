/*
 * What the programs of a context called: it is kept with each cell, and served back where the cell
 * runs again, so that no state is ever made again by calling. The harness of a cell says whose
 * turn it is by a frame without an answer, {"cell": N}, N from 1, 0 for the new program; before
 * that, and of an earlier cell's whatever it has not called then, nothing is made.
 */
#ifndef AGENT_CALL_CELLS_H
#define AGENT_CALL_CELLS_H

#include "agent/call.h"
#include "agent/context.h"

/* Calls and what they came to (struct tool_ops, served) as lines of JSON; NULL: none. Caller frees.
 */
char *call_cells_lines(const struct json *calls);
/* Adds what lines (NULL: nothing) have to an array of those. */
void call_cells_read(const char *lines, struct json *calls);
/* Whether a cell of the context that still counts called anything; NULL: none did. */
bool call_cells_any(const struct context *context);

/* Those of the context (NULL: none) in that language run again before its program. */
void call_cells_init(struct calls *c, const struct context *context, const char *lang);
void call_cells_release(struct calls *c);
/* From the first on, once more. */
void call_cells_begin(struct calls *c);
/* It is that one's turn. False: that cannot be. */
bool call_cells_turn(struct calls *c, int64_t number);
/* Whether an earlier cell calls, which is answered as it was then. */
bool call_cells_serve(struct calls *c, struct call *call);

#endif
