/* One run while it goes on: the keeper's part of it, the guest's output. Internal. */
#ifndef SANDBOX_PUMP_H
#define SANDBOX_PUMP_H

#include "base/buf.h"
#include "sandbox/native/internal.h"
#include "sandbox/native/port.h"
#include "sandbox/native/share.h"

#include <poll.h>

struct channel {
	int fd; /* read end; -1 after its end */
	bool is_stderr;
	int64_t limit;
	struct buf kept;
	uint64_t total;
};

struct pump {
	struct native *native;
	const struct sandbox_job *job;
	const struct sandbox_watch *watch; /* or NULL */
	struct channel channels[2];
	struct port port;
	unsigned packages; /* of what it was given to run in */
	bool killed;
	bool ended;		       /* the keeper has reported: every process is dead */
	enum protocol_reason reason;   /* of our order to kill */
	const char *lost;	       /* what became of the keeper; NULL: it answers */
	int64_t start_ms, deadline_ms; /* to wait for an answer until */
	struct protocol_result *facts; /* owned */
	int out_dir;
	struct input_share shared; /* how its inputs are seen */
	uint32_t state, from;	   /* of a context (protocol.h); 0: none */
	uint32_t keep_ms;	   /* and how long it may be unused */
};

#define PUMP_FDS 6

void pump_init(struct pump *p, struct native *s, const struct sandbox_job *job,
	       const struct sandbox_watch *watch);
void pump_release(struct pump *p);

/* Hands the job to the keeper. link: its ends of a pair's or a port's pipes, or NULL. */
int pump_start(struct pump *p, const char *interpreter, const int link[2], struct error *err);

/* What to poll for, PUMP_FDS of them, and what to do with what came. Fails when
 * the keeper is lost: pump_end_without_keeper says what is known all the same. */
void pump_poll(const struct pump *p, struct pollfd *ret_fds);
int pump_handle(struct pump *p, const struct pollfd *fds, struct error *err);
/* How long the next poll may take, for all of them. */
int pump_wait_ms(const struct pump *p);
void pump_kill(struct pump *p, enum protocol_reason reason);

/*
 * The keeper is gone or stuck, and dies of it with all it started. Of a guest
 * that ran and that we wanted to end we know the outcome: our own reason. 0, or
 * -1 when none ran, or when the keeper died by itself: what of, nobody knows.
 */
int pump_end_without_keeper(struct pump *p, struct error *err); /* err->begun: one ran */

/* What is left in the pipes after the end: bounded, for nobody writes any more. */
void pump_drain(struct pump *p);

#endif
