/*
 * When what was committed is on the disk. Internal to audit/.
 *
 * With a write-ahead log a commit only writes it (synchronous=NORMAL), which a kill survives and a
 * power cut need not; the disk is waited for here, after SQLite's write lock was given back, so
 * that others write meanwhile. A sync of the write-ahead log covers every commit that was written
 * before it began, of whatever process, and so does a checkpoint, which syncs both files. With a
 * rollback journal each commit syncs by itself (synchronous=FULL), and there is nothing to do.
 */
#ifndef AUDIT_DURABLE_H
#define AUDIT_DURABLE_H

#include "audit/db.h"

/* Where SQLite has the write-ahead log of a file: beside the file itself, where path is a link to
 * it. Caller frees. */
char *durable_wal_of(const char *path);
/* How SQLite commits from now on, by the journal that was chosen. */
int durable_choose(struct audit *audit, struct error *err);
/* After a commit that is written and no more. */
void durable_written(struct audit *audit);
/* After a checkpoint that emptied the write-ahead log: it has synced everything. */
void durable_emptied(struct audit *audit);
/* Waits until all that this process committed is on the disk. */
int durable_sync(struct audit *audit, struct error *err);
/* The same, after the connection was closed, which may have done it. */
int durable_finish(struct audit *audit, struct error *err);

#endif
