/*
 * How the file is journalled. Internal to audit/.
 *
 * A write-ahead log wherever one can be had, so that who reads never stops who
 * writes. It needs memory shared by all who have the file open, which file
 * systems of a network cannot give: there a rollback journal is kept.
 *
 * SQLite before 3.51.3 can lose pages when a checkpoint of one connection meets
 * a commit of another that begins the write-ahead log anew (sqlite.org/wal.html,
 * "The WAL-Reset Bug"): the checkpoint goes by a header that it read before. It
 * is met by who checkpoints without SQLite's own write lock, as the automatic
 * checkpoints do. Ours are made with that lock or not at all (shrink),
 * and by the last connection as it closes, which holds the file alone.
 *
 * What is on the disk when is in audit/durable.h. The file alone is a whole log
 * again when the last program that has it open closes it; after a brief one (of
 * struct audit_options) what it holds is on the disk with the write-ahead log, half
 * a MiB at most, that is kept beside it.
 */
#ifndef AUDIT_JOURNAL_H
#define AUDIT_JOURNAL_H

#include "audit/db.h"

/* Chooses, when the file has its schema. Where no write-ahead log can be had, audit->journal_why
 * says why not. -1: not even the other. */
int journal_choose(struct audit *audit, struct error *err);
/* For a reader, who takes it as it is. */
void journal_read(struct audit *audit);
/* "wal", "persist" ..., as the file has it now. */
const char *journal_name(struct audit *audit);

/* After a commit: moves what was committed into the file when there is enough of it. That it
 * cannot (somebody reads, the disk is full) is no failure: it is in the write-ahead log. */
void journal_after_commit(struct audit *audit);

/* Before the connection is closed: a short write-ahead log is kept, also by the last one, which
 * then waits for the disk once and not for each file. Not where nothing was committed. */
int journal_leave(struct audit *audit, struct error *err);

/* After a step of a removal, where each needs room: moves what can be moved, however little. */
void journal_settle(struct audit *audit);
/* After a removal: leaves nothing in the journal. False when a reader still needs it. */
bool journal_scrub(struct audit *audit);

/* Whether the file on this file system can have its memory shared; *ret_why says why not. */
bool journal_can_share(const char *path, const char **ret_why);
/* Bytes in the write-ahead log beside the file; 0 when there is none. */
int64_t journal_pending(const char *path);

#endif
