/*
 * Attributes of programs of the user's (spawn.h). Nothing is started here, and what a sandbox runs
 * never comes this way.
 */
#include "base/spawn.h"

#include <signal.h>

void spawn_attributes(posix_spawnattr_t *ret, pid_t group)
{
	sigset_t all;

	sigfillset(&all);
	sigset_t none;
	sigemptyset(&none);
	posix_spawnattr_init(ret);
	posix_spawnattr_setflags(ret, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
					      POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setpgroup(ret, group);
	posix_spawnattr_setsigdefault(ret, &all);
	posix_spawnattr_setsigmask(ret, &none);
}
