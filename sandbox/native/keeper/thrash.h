/* A group at its memory limit that gets nothing done (thrash.c). */
#ifndef SANDBOX_KEEPER_THRASH_H
#define SANDBOX_KEEPER_THRASH_H

#include "sandbox/native/keeper/groups.h"

#include <stdbool.h>
#include <stdint.h>

struct thrash {
	int64_t since_us;    /* at the limit; 0: it is not */
	struct cpu_time cpu; /* then, as the others */
	int64_t read_back;
	uint64_t oom_kills;
};

/* Whether a group has been at its memory limit for a while and done nothing else. */
bool thrash_look(struct thrash *t, const struct cgroups *c, int64_t now);

#endif
