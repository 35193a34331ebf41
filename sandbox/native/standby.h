/* What a keeper has waiting. */
#ifndef NATIVE_STANDBY_H
#define NATIVE_STANDBY_H

#include "sandbox/native/internal.h"

/* An interpreter that a keeper has waiting, and what it was given: read ends are ours,
 * the others go to the keeper once more with the job, which may start cold after all. */
struct waiting {
	char *key; /* of all that a job must have in common with it */
	int fds[PROTOCOL_RUN_FDS];
	int out, errors;
	bool forks;	       /* it may be a template's */
	unsigned packages;     /* which has these */
	int64_t good_until_ms; /* later, the keeper may have let go of it */
};

void waiting_free(struct waiting *w); /* NULL is allowed */
/* What waits is gone. */
void waiting_release(struct native *s);
/* The same of half a pair that has its pipes already. */
void waiting_release_joined(struct native *s);
/* Its keeper is gone for good, and with it a template. */
void waiting_release_template(struct native *s);

#endif
