/*
 * What a head that is kept elsewhere says of the runs that have no end: no entry of the log's own
 * chain says anything of them yet. Internal to audit/; struct audit_head is audit.h's.
 */
#ifndef AUDIT_HEAD_H
#define AUDIT_HEAD_H

#include "audit/db.h"

/* Adds the runs that are open now to ret->open. */
int head_open_runs(struct audit *audit, struct audit_head *ret, struct error *err);

/* Whether a run that was open when a head was kept, whose last entry is `place`, is still what it
 * was then: it may have gone on, ended, or been removed since. *ret_bad is NULL, or says what is
 * wrong (caller frees). */
int head_check_run(struct audit *audit, int64_t place, const struct audit_open_run *kept,
		   char **ret_bad, struct error *err);

#endif
