/* What launcher, init, guest and template are told, and what they tell the keeper. */
#ifndef SANDBOX_KEEPER_ORDERS_H
#define SANDBOX_KEEPER_ORDERS_H

#include "sandbox/native/protocol.h"

#include <stdint.h>

/* What the launcher, init and the guest tell the keeper. */
enum event_kind {
	EVENT_READY,	/* launcher: in its groups */
	EVENT_BORN,	/* launcher: init's pid, with its pidfd */
	EVENT_LISTENER, /* guest: the filter is on, with the listener */
	EVENT_WAITING,	/* init: the interpreter waits for its program, with enum started_fd */
	EVENT_STARTED,	/* init: the interpreter runs, with enum started_fd, or what waited does */
	EVENT_DONE,	/* init: the guest ended */
	EVENT_FAILED,	/* any: a step of the set-up */
	EVENT_HELD,	/* init: the guest ended well and holds its state (context.h) */
};

/* What comes with EVENT_WAITING or EVENT_STARTED. The mount namespace is only held: whoever
 * lets go last waits for an RCU grace period, and that shall not be init. */
enum started_fd { STARTED_OUT, STARTED_PROC, STARTED_MOUNTS, STARTED_FDS };

struct event {
	uint32_t kind;
	int32_t pid;
	int32_t status; /* of DONE; for READY whether the cgroup namespace is new */
	int64_t at_us;
	struct protocol_failure failure;
};

/* To the launcher: make an init whose disk is this large. Or a template
 * (template.h). */
struct standby {
	int64_t disk_bytes, inodes;
	uint32_t fresh_net; /* in a new net namespace, as those after it */
	uint32_t makes_template;
};

/* To that init: run this. */
struct launch {
	struct protocol_limits limits;
	uint32_t filter;
	int32_t landlock_abi;
	uint32_t limit_data; /* RLIMIT_DATA, where no cgroup counts memory */
	uint32_t pids_cgroup;
	uint32_t ours; /* processes of ours that count as the guest's, but keeper, launcher, init */
	uint32_t lease_ms; /* so long at most one waits for a file; 0: it cannot */
	uint32_t waits;	   /* there is no program yet: another launch brings it */
	uint32_t forks;	   /* and a template makes the guest, who is told by GO_FD */
	uint32_t holds;	   /* the guest may hold its state, and init serves a context (context.h) */
};

/* With the second launch: a socket to that guest, and after it its pipes, if it is linked. */
enum go_fd { GO_FD = PROTOCOL_FD_LINK_IN, GO_LINK_IN, GO_LINK_OUT, GO_FDS };

#endif
