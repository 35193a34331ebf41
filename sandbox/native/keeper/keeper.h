/*
 * What a keeper is, and what it is made of; the headers of what it does stand on this one. Theory
 * of operation: README.md.
 *
 * Everything here is libc only and allocates nothing: the keeper is the parent
 * of hostile processes and stays small enough to reason about. Functions
 * return 0 or -1 with errno, and the caller names the step that failed.
 */
#ifndef SANDBOX_KEEPER_KEEPER_H
#define SANDBOX_KEEPER_KEEPER_H

#include "sandbox/native/keeper/become.h"
#include "sandbox/native/keeper/confine.h"
#include "sandbox/native/keeper/crash.h"
#include "sandbox/native/keeper/grant.h"
#include "sandbox/native/keeper/groups.h"
#include "sandbox/native/keeper/guest.h"
#include "sandbox/native/keeper/kill.h"
#include "sandbox/native/keeper/launch.h"
#include "sandbox/native/keeper/ledger.h"
#include "sandbox/native/keeper/notify.h"
#include "sandbox/native/keeper/payload.h"
#include "sandbox/native/keeper/remedy.h"
#include "sandbox/native/keeper/root.h"
#include "sandbox/native/keeper/supervise.h"
#include "sandbox/native/keeper/util.h"
#include "sandbox/native/keeper/warm_order.h"
#include "sandbox/native/protocol.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct keeper {
	struct cgroups cgroups;
	struct protocol_hello hello;
	int client;	   /* socket to assay */
	long processors;   /* that a run can have */
	uint32_t lease_ms; /* of struct launch */
	int64_t file_size; /* the largest file we and a guest may write */
	struct crash crash;
	struct launcher launcher;
	struct standby standby; /* as it was ordered */
	bool ordered;		/* an init is waiting, or on its way */
	int sockets;		/* sockstat of the launcher's net namespace; -1: not open */
	bool waiting;		/* that init has a guest that waits (job.c) */
	bool keeps;		/* an init serves a context (context.h) */
};

#endif
