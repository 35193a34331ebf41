/* Forks and shared mappings, granted call by call where no control group counts them. */
#ifndef SANDBOX_KEEPER_GRANT_H
#define SANDBOX_KEEPER_GRANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SHARED_MAX 2048

/* A shared mapping; by: the thread that was allowed it, 0 when it is made. */
struct shared {
	int64_t bytes;
	pid_t by;
};

/* What a run may still have, where no control group counts it. */
struct grants {
	bool counts_pids, counts_memory; /* no group does */
	int64_t processes, memory_bytes; /* the limits */
	int proc;			 /* of the run, -1 until it is known; not ours */
	int64_t pids;			 /* at most these many are there */
	int64_t count_us;		 /* when to count again, at the limit */
	bool at_limit;			 /* at the last count */
	struct shared shared[SHARED_MAX];
	size_t shared_count;
	int64_t shared_bytes; /* their length */
	int64_t sockets;      /* at most these many are there */
	int64_t other_bytes;  /* all memory but theirs, at the last look */
	uint64_t forks_refused, shared_refused;
};

/* 0: the call may go on; else the error it gets. */
int grant_fork(struct grants *g);
int grant_sockets(struct grants *g, int64_t count);
int grant_shared(struct grants *g, pid_t thread, uint64_t len);
/* Takes those out of the sum that are gone. */
void grant_count_shared(struct grants *g);

#endif
