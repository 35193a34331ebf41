/*
 * What was seen in inputs (inspect.h), for the questions to come: the same input, looked into by
 * the same interpreter in the same sandbox, is not looked into again. Bytes are known by their
 * digest, what stays where it is by its stamp (agent/input/input.h).
 */
#ifndef AGENT_INSPECTIONS_H
#define AGENT_INSPECTIONS_H

#include "agent/prompt/inspect.h"
#include "base/hash.h"

#define INSPECTIONS_MAX 64

struct inspections {
	struct inspection_kept {
		char key[HASH_HEX_LEN + 1];
		char *text; /* owned */
	} list[INSPECTIONS_MAX];
	size_t count, next; /* the one that makes room */
};
void inspections_release(struct inspections *c);

/* As inspect_file; what is known takes no time. */
int inspections_look(struct inspections *c, struct sandbox *sandbox,
		     const struct sandbox_file *file, int64_t wall_ms, int cancel_fd,
		     struct inspection *ret, struct error *err);

#endif
