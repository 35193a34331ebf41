/*
 * A sum over what lies beside the chains: which run needs which blob and has which tag, what is
 * said of each blob, and how many events a run has that has no end: such a run is in no entry of
 * the log's own chain. One row of `counts`, changed with the commit that changes what it sums.
 * Internal to audit/.
 */
#ifndef AUDIT_CONTENTS_H
#define AUDIT_CONTENTS_H

#include "audit/db.h"

/* A row that comes (sign 1) or goes (-1). */
void contents_ref(struct audit *audit, int sign, int64_t run, int64_t blob);
void contents_tag(struct audit *audit, int sign, int64_t run, const char *tag);
void contents_blob(struct audit *audit, int sign, int64_t no, int64_t size, int64_t redactions,
		   const char *media_type);

/* A run that has no end, and how many events it has. */
void contents_open(struct audit *audit, int sign, int64_t run, const char *id, int64_t events);

/* All rows of a run but its blobs' own go, and blobs that are in temp.orphans. */
int contents_forget_run(struct audit *audit, int64_t run, struct error *err);
int contents_forget_orphans(struct audit *audit, struct error *err);

/* Before a commit. A log of a program that kept none is summed once. */
int contents_keep(struct audit *audit, struct error *err);

/* Whether the sum is that of the rows; true for a log that has none yet. */
int contents_check(struct audit *audit, bool *ret, struct error *err);

#endif
