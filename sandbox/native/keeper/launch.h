/* The launcher, and the init that it makes. */
#ifndef SANDBOX_KEEPER_LAUNCH_H
#define SANDBOX_KEEPER_LAUNCH_H

#include "sandbox/native/keeper/groups.h"
#include "sandbox/native/keeper/orders.h"
#include "sandbox/native/protocol.h"

#include <stdint.h>
#include <sys/types.h>

/* --- launch.c --- */

struct launcher {
	pid_t pid;  /* 0: none */
	int orders; /* struct standby goes in */
	int events; /* struct launch goes in, to init; struct event comes out */
};

int launcher_start(const struct cgroups *c, struct launcher *ret);

/* --- init.c --- */

/* Pid 1 of a run. Never returns. */
void init_main(const struct standby *standby, int keeper) __attribute__((noreturn));

/* One tmpfs for all a guest may write, with these options, so that one limit holds for all; the
 * whole of it, which no guest sees. */
int init_mount_disk(const char *options, int *ret_root);

#endif
