/* Why a host refuses what the keeper needs, and what to do. */
#ifndef SANDBOX_KEEPER_REMEDY_H
#define SANDBOX_KEEPER_REMEDY_H

#define REMEDY_NO_PROC "/proc is not mounted here: `mount -t proc proc /proc`"

/* Why a user namespace, or a mount in one, is refused here, and what to do. root is
 * a directory to look from; -1: that of this process. errno is kept by the caller. */
const char *remedy_userns(int root);

#endif
