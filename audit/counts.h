/* What statistics are made of, kept in the transaction that changes it. Internal to audit/. */
#ifndef AUDIT_COUNTS_H
#define AUDIT_COUNTS_H

#include "audit/db.h"

/* Adds `by` to what is counted as "name" or "name word" (word NULL: without one). */
int counts_add(struct audit *audit, const char *name, const char *word, int64_t by,
	       struct error *err);
/* Before a commit: writes what was added since the last. */
int counts_keep(struct audit *audit, struct error *err);
/* A run (its no) as its row is now: sign 1 adds it, -1 takes it away. */
int counts_run(struct audit *audit, int64_t run, int sign, struct error *err);
int counts_blob(struct audit *audit, int64_t size, int64_t redactions, int sign, struct error *err);
/* A number that no run of this log has had, and none will have again. */
int counts_next_run(struct audit *audit, int64_t *ret, struct error *err);

#endif
