/* To count what the processes of a run use, where no control group does, through its /proc. */
#ifndef SANDBOX_KEEPER_SUPERVISE_H
#define SANDBOX_KEEPER_SUPERVISE_H

#include "sandbox/native/keeper/ledger.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* --- supervise.c --- */

struct usage {
	int64_t memory_bytes, user_us, system_us, pids;
	int64_t sockets_bytes;		  /* of that memory */
	int64_t processes, address_bytes; /* of those with memory */
	pid_t init;			  /* of the run whose usage it is */
	struct inodes *inodes;		  /* of shared mappings, where those are counted */
	struct stopped *stopped;
	struct maps *maps;
	struct ledger *ledger; /* of CPU time, where that is counted */
};

/* Counts what no cgroup does. proc and out are directories of the run, init its
 * first process, other_bytes what is known to be there besides. */
int supervise_count(int proc, int out, pid_t init, int64_t other_bytes, int64_t memory_limit,
		    struct ledger *ledger, struct usage *ret_usage);
/* What the maps of those that have very many take themselves, by what was seen of
 * them; more than the limit at the worst; -1: not to be had. */
int64_t supervise_maps(int proc, const struct usage *seen, int64_t memory_limit);
/* The most that lies in the queues a socket writes to. */
int64_t supervise_socket_bytes(void);
/* How many sockets a sockstat says; -1: it cannot be read. */
int64_t supervise_sockets(int sockstat);
/* How many a run has, by its proc; -1: not to be had. */
int64_t supervise_sockets_of(int proc);
/* Processes and threads but init; -1: not to be had. */
int64_t supervise_pids(int proc);
/* How many shared anonymous mappings any process has, ASIDE_LATE at the worst; -1:
 * not to be had, or too much to read. */
int64_t supervise_shared(int proc);

/* --- aside.c --- */

#define ASIDE_LATE INT64_MAX

/* What of() says, -1 when that could not be had, or ASIDE_LATE: it may wait for what
 * a guest holds, and runs in another process; the guest is stopped if need be. */
int64_t aside_count(int proc, int64_t (*of)(int proc, const void *what), const void *what);

/* --- absent.c --- */

struct absent {
	int64_t seen, system_us, since_us; /* on the host, used by the run, and when */
	int64_t ours;			   /* names, since the run began */
	int64_t doubt_us;		   /* till when nobody can tell */
};

/* What the names take that a run looked for in vain; system_us is the time it may have
 * spent in the kernel so far. */
int64_t absent_bytes(struct absent *a, int proc, int64_t system_us, int64_t memory_limit);

/* --- relation.c --- */

/* Whether pid, a child of parent, is in the memory of that. Both are numbers of
 * proc, init is one of ours. False when it cannot be told. */
bool relation_shares_memory(int proc, pid_t init, pid_t pid, pid_t parent);

#endif
