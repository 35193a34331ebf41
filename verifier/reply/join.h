/* Blocks of a reply that are one program only together. */
#ifndef VERIFIER_JOIN_H
#define VERIFIER_JOIN_H

#include "verifier/reply/block.h"
#include "verifier/reply/outline.h"

struct join {
	struct code_block *blocks;
	size_t count;
	const char *lang;	  /* of all that may run */
	struct outline *outlines; /* by block */
	bool *usable;		  /* may run with another, by block */
	size_t *head;		  /* plus one: the block whose suite this one goes on with, or 0 */
};

/* Finds the blocks that go on inside what an earlier one left open, and takes
 * the fault from their outlines. */
void join_continuations(struct join *j);
/* Marks what runs with blocks[main], with the reasons, and makes the program. */
void join_program(struct join *j, size_t main, struct program *ret);

#endif
