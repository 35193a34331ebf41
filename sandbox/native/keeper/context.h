/*
 * A context: an init that outlives a guest. What a guest that ended well holds is copied for each
 * one that starts from it; what fails leaves nothing. Theory: context.c (init's side) and held.c
 * (the keeper's).
 */
#ifndef SANDBOX_KEEPER_CONTEXT_H
#define SANDBOX_KEEPER_CONTEXT_H

#include "sandbox/native/keeper/keeper.h"

/* --- sandbox/native/hold --- */

/* Of a guest that may hold its state, at exec: a socket to init. The variable, beside LD_PRELOAD,
 * says which Landlock there is; both are gone after. */
#define HOLD_FD	      3
#define HOLD_VARIABLE "ASSAY_HOLD"

/* Why one does not hold, in words. */
#define HOLD_THREAD	"a thread runs on"
#define HOLD_PROCESS	"a process runs on"
#define HOLD_TIMER	"a timer runs"
#define HOLD_FILE	"a file is open"
#define HOLD_PIPE	"a pipe is open"
#define HOLD_SOCKET	"a socket is open"
#define HOLD_FOLDER	"a folder is open"
#define HOLD_DESCRIPTOR "a descriptor is open"
#define HOLD_UNKNOWN	"what is open cannot be told"
#define HOLD_SHARED	"memory is shared"
#define HOLD_CHANNEL	"its channel was closed"
#define HOLD_REFUSALS                                                                          \
	HOLD_THREAD, HOLD_PROCESS, HOLD_TIMER, HOLD_FILE, HOLD_PIPE, HOLD_SOCKET, HOLD_FOLDER, \
		HOLD_DESCRIPTOR, HOLD_UNKNOWN, HOLD_SHARED, HOLD_CHANNEL

/* To a holder: make a copy. EVENT_READY is the answer, with the copy's pid or an errno below 0;
 * and the copy says EVENT_BORN on its own socket, the last of these. */
struct hold_order {
	uint32_t kind;
};

enum hold_fd { HOLD_TEXT, HOLD_STDIN, HOLD_STDOUT, HOLD_STDERR, HOLD_NEXT, HOLD_FDS };

/* --- what the keeper orders --- */

#define SLOTS PROTOCOL_STATES_MAX

enum context_kind {
	CONTEXT_FORK, /* a guest out of the state in slot, with the payload and streams */
	CONTEXT_KEEP, /* the guest that holds is the state in slot from now on */
	CONTEXT_DROP, /* that in slot is no more, or the guest that holds, which is in none */
};

/* To an init that serves a context. */
struct context_order {
	uint32_t kind;
	uint32_t slot; /* from 0; SLOTS: none */
};

enum context_fd { CONTEXT_PAYLOAD, CONTEXT_STDIN, CONTEXT_STDOUT, CONTEXT_STDERR, CONTEXT_FDS };

/* --- context.c, in init --- */

struct context_start {
	int keeper;		/* as struct init's */
	int disk;		/* the root of all that a guest may write to */
	int store;		/* a tmpfs of ours, for the files of states */
	int in;			/* /in, where we may write */
	int control;		/* to the guest; the other end is its HOLD_FD */
	int peer;		/* that, till the guest has it */
	struct payload payload; /* of the first guest */
};

/* Makes what is needed while init may mount. */
int context_prepare(struct context_start *c, int disk, const struct protocol_limits *limits);
/* In place of reaping until the guest has ended. */
void context_serve(const struct context_start *start, pid_t guest) __attribute__((noreturn));

/* --- snapshot.c, in init --- */

/* The folders that a guest may write to, as they are below disk, into the folder of that slot below
 * store; what has not changed since the copy in like (-1: none) is taken from there. */
int snapshot_take(int disk, int store, int slot, int like);
/* Those folders made as they were then. */
int snapshot_restore(int disk, int store, int slot);
void snapshot_drop(int store, int slot);

#endif
