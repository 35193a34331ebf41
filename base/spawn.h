/* What programs of the user's that are started beside assay have alike (posix_spawn(3)). */
#ifndef BASE_SPAWN_H
#define BASE_SPAWN_H

#include <spawn.h>
#include <sys/types.h>

/* In that process group (0: one of its own), default signals, nothing blocked; the caller destroys
 * it. */
void spawn_attributes(posix_spawnattr_t *ret, pid_t group);

#endif
