/*
 * One run as the files that see it through know it: job.c begins and ends it, run.c watches it.
 * It is whole from job.c's begin; before that nothing of it may be read.
 */
#ifndef SANDBOX_KEEPER_RUN_H
#define SANDBOX_KEEPER_RUN_H

#include "sandbox/native/keeper/keeper.h"
#include "sandbox/native/keeper/thrash.h"

#include <sys/resource.h>
#include <sys/vfs.h>

#define WALL_PIDS 2 /* launcher and init are in the group too, and a template if there is one */

struct holder {
	pid_t pid;	/* 0: none */
	uint64_t since; /* when it began: another of that number is not it */
};

struct run {
	struct keeper *keeper;
	const struct protocol_request *request;
	struct protocol_request prepared; /* what one that waits was made for */
	struct protocol_result result;
	struct notify notify;
	struct grants grants;
	struct ledger *ledger; /* large, and not to be cleared where a group counts */
	pid_t init;
	int pidfd, out, proc, mounts;
	bool born, started, reaped, client_gone;
	bool waits;	     /* for its job; its guest may be on its way still */
	bool forks;	     /* its guest is a template's */
	bool ready;	     /* init has started a guest that waits, and reads what comes next */
	bool stays;	     /* init serves a context, and outlives its guests */
	bool over;	     /* and the guest has ended, or holds; what it left is ended */
	struct holder holds; /* it says so, and it is so */
	struct holder slots[PROTOCOL_STATES_MAX]; /* who holds which state */
	struct holder dying[PROTOCOL_STATES_MAX]; /* and who did: a large one is not gone at once */
	int go; /* socket to the guest that a template forked; -1: none did */
	/* In the group, but not of the run: bytes of memory, processes. */
	int64_t ours_bytes, ours_pids;
	int64_t started_us, ended_us, look_us; /* look_us: next look at usage */
	int64_t disk_us;		       /* next look at the disk alone */
	int64_t told_us;		       /* the client, of what is used */
	int64_t memory_bytes;		       /* as it was seen last */
	struct statfs disk;		       /* that of the last */
	struct thrash thrash;
	struct absent absent;
	int64_t absent_bytes;
	int64_t maps_us, maps_bytes; /* next look at what maps take; that of the last */
	int64_t over_us, kill_us;    /* since when nobody shall live; the next blow */
	struct cpu_time cpu_base;    /* total_us < 0: no group counts */
	int64_t pids_peak_base;
	uint64_t oom_base, pids_base;
	struct rusage rusage;
	struct usage peak;
};

int64_t run_us(struct timeval t);
/* Ends the guest, unless it ended by itself first; the first reason given counts. */
void run_kill(struct run *r, enum protocol_reason reason);
/* It is of a context, and something holds a state. */
bool run_has_states(const struct run *r);
/* Looks at the disk, and says when to look again. */
void run_look_at_disk(struct run *r);
/* Until init is reaped, or none was ever born. */
void run_watch(struct run *r);
/* Answers for a guest that waits, until assay speaks, or only until the guest has been
 * started and the launcher has told of its init, who may be quicker; false when it is no more, or
 * was not used for too long. */
bool run_idle(struct run *r);
/* The same while what a context keeps waits for a guest to start from it. */
bool run_keep(struct run *r);
bool run_until_ready(struct run *r);
/* Sets the limits of the groups to those of its request. */
int run_limit_groups(struct run *r);

/* --- held.c: of a context (context.h) --- */

/* One whose guest has told that it holds: whether it does, and nothing else runs. */
void held_look(struct run *r, pid_t pid);
/* One that does not, as the guest says, and why. */
void held_refused(struct run *r, const char *why);
/* Ends all but init and what is held. */
void held_strike(struct run *r);
/* After the last guest's end: nothing but init and what is held is there any more. */
bool held_is_still(struct run *r);
/* The result was sent: what it held is kept, or dropped. */
void held_settle(struct run *r);
/* Starts a guest out of a state. -1 with the failure: there is none. */
int held_fork(struct run *r, const int *fds);
/* That state is no more. */
void held_drop(struct run *r, uint32_t slot);

#endif
