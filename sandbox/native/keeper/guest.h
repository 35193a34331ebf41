/* The first steps of a guest, which end in its interpreter, and the walls it raises. */
#ifndef SANDBOX_KEEPER_GUEST_H
#define SANDBOX_KEEPER_GUEST_H

#include "sandbox/native/protocol.h"

#include <stdbool.h>
#include <stdint.h>

struct launch;

/* --- guest.c --- */

/* The program to start, read out of the payload. */
struct program {
	const char *path;
	const char *argv[PROTOCOL_ARGS_MAX + 1];
	const char *env[PROTOCOL_ARGS_MAX + PROTOCOL_ENV_FIXED + 1];
};

/* Shared with the guest's first steps, which run in init's memory (vfork). */
struct guest {
	const struct launch *launch;
	const struct program *program;
	int fds[PROTOCOL_RUN_FDS];
	int keeper;
	int started_fd; /* PROTOCOL_STARTED_FD, wherever it is by now */
	bool waits;	/* init still has its capabilities, and tells when it runs a job */
	struct protocol_failure failure;
	bool started;	    /* all steps done, exec was tried */
	int64_t started_us; /* when; init may be scheduled again much later */
};

/* Confines itself and becomes the interpreter. Returns only on failure. */
int guest_main(void *guest);

/* --- walls.c --- */

/* All that needs no job, the filter last: its listener goes to g->keeper. Both
 * return -1 with the failure in g. */
int walls_raise(struct guest *g);
/* The job's limits and descriptors. */
int walls_take_job(struct guest *g);

#endif
