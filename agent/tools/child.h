/* A program of the user's, started outside the sandbox as the configuration names it: what goes to
 * its standard input, and what comes of its output, bounded and in time. Internal to agent/tools/.
 */
#ifndef AGENT_TOOLS_CHILD_H
#define AGENT_TOOLS_CHILD_H

#include "base/buf.h"
#include "base/error.h"
#include "base/stop.h"

#include <stdbool.h>
#include <sys/types.h>

#define CHILD_OUTPUT_MAX ((size_t)8 << 20) /* bytes that were not looked at yet */

struct child {
	const char *name; /* for messages; borrowed */
	pid_t guard;	  /* its parent, which ends all of it when assay is gone; or 0 */
	int lifeline;	  /* by whose end the guard knows; or -1 */
	int report;	  /* what the guard says of it; or -1 */
	pid_t pid;	  /* 0: none was started */
	bool ended;	  /* with this wait status: */
	int status;
	int in, out, errors; /* -1: closed */
	struct buf sending;  /* to its standard input */
	struct buf output;   /* of its standard output */
	struct buf notes;    /* the beginning of its standard error */
};

/* Its environment has a few common names (PATH, HOME, ...) and those that env lists, by commas; so
 * no key of assay's. env may be NULL. ERR_CONFIG when it cannot be started. */
int child_start(struct child *ret, const char *name, const char *command, const char *env,
		struct error *err);
void child_send(struct child *c, const char *bytes, size_t len); /* as it takes them */
/* Carries what there is, once; waits for something until stop says. ERR_DEADLINE, ERR_CANCELLED;
 * ERR_FAILED: more than CHILD_OUTPUT_MAX. */
int child_step(struct child *c, const struct stop *stop, struct error *err);
/* Its standard input ends where that was all sent. */
void child_close_input(struct child *c);
/* Waits until it has ended by itself; the wait status. As child_step. */
int child_wait(struct child *c, const struct stop *stop, int *ret_status, struct error *err);
/* ": " and what it said on standard error, cut; "" for nothing. Caller frees. */
char *child_notes(const struct child *c);
/* Ends it with all that it started, and frees what it had. */
void child_end(struct child *c);

#endif
