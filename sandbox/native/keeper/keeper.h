/*
 * The keeper's insides. Theory of operation: README.md.
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

/* --- stream.c: this program as an end of a stream (stream.h) --- */

/* As the arguments say; its exit status. */
int stream_main(char **arguments);

/* --- boot.c: this program as pid 1 of a machine --- */

#define KEEPER_INIT "/init" /* what that is called there */

void boot_main(void) __attribute__((noreturn));

/* --- single.c: this program where the kernel is gVisor's --- */

#define KEEPER_SINGLE "--single" /* its argument */

/* Serves one run; its exit status. */
int single_main(void);

/* --- share.c --- */

/* The program when it is started to share inputs: its exit code. */
int share_main(void);

/* --- garbage.c --- */

/* Waits until no socket is left in a run's net namespace, all of whose processes
 * are dead, by its sockstat; false when some are that take long to go. */
bool garbage_collect(int sockstat, const struct cgroups *c);

/* --- job.c --- */

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

/* --- job.c --- */
/* -1 when no file may be as large. */
int run_check_file_size(const struct keeper *k, int64_t bytes, struct protocol_failure *failure);

/* One run, from request to result. -1 when assay is gone. */
int run_job(struct keeper *k, const struct protocol_request *request, const int *fds);
/* Has an interpreter wait for a job like this, in place of any that does: a hint. The
 * payload is that of a job without files. */
void job_prepare(struct keeper *k, const struct protocol_request *request, const int *fds);
/* That state is no more; with the last one its context. */
void job_drop(struct keeper *k, const struct protocol_request *request);
/* Answers for one that waits, until assay speaks. */
void job_idle(struct keeper *k);

/* --- standby.c --- */
/* Has an init made for the next run, which may need another size of disk. */
void standby_order(struct keeper *k, const struct standby *standby);
/* -1: there is none, and none can be had. */
int standby_ensure(struct keeper *k, const struct protocol_limits *limits);
/* Whether the next run may share the net namespace of the last. */
bool standby_net_is_clean(struct keeper *k);
/* The launcher of a keeper that will have no other run: it dies while what came of this one is
 * told. */
void standby_dismiss(const struct keeper *k);
void standby_discard(struct keeper *k);

#endif
