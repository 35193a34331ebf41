/* Sockets of a dead guest, which outlive it (garbage.c). */
#ifndef SANDBOX_KEEPER_GARBAGE_H
#define SANDBOX_KEEPER_GARBAGE_H

#include "sandbox/native/keeper/groups.h"

#include <stdbool.h>

/* Waits until no socket is left in a run's net namespace, all of whose processes
 * are dead, by its sockstat; false when some are that take long to go. */
bool garbage_collect(int sockstat, const struct cgroups *c);

#endif
