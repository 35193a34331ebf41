/*
 * A write-ahead log or a rollback journal, and when the one is emptied. It never
 * copies a page unless it holds SQLite's write lock, and never waits for a reader
 * while it holds it.
 */
#include "audit/journal.h"

#include "audit/durable.h"
#include "base/mem.h"

#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* When the write-ahead log is moved into the file: 4 MiB of pages. */
#define SHRINK_PAGES 1000
/* What a brief connection leaves of it at most: the next one reads all that is there, in a third
 * of a millisecond, and copies it again in another. */
#define LEAVE_BYTES ((int64_t)512 << 10)
/* A removal waits that long, in all, for readers to end. */
#define SCRUB_TRIES    40
#define SCRUB_SLEEP_US 50000

/* Of the kernel, but not in its headers. */
#define CIFS_MAGIC   0xFF534D42
#define GFS2_MAGIC   0x01161970
#define LUSTRE_MAGIC 0x0BD00BD0
#define GPFS_MAGIC   0x47504653

static const struct {
	unsigned long magic;
	const char *why;
} unshared[] = {
	{ NFS_SUPER_MAGIC, "NFS is shared by machines, and their memory is not" },
	{ SMB_SUPER_MAGIC, "SMB is shared by machines, and their memory is not" },
	{ SMB2_SUPER_MAGIC, "SMB is shared by machines, and their memory is not" },
	{ CIFS_MAGIC, "SMB is shared by machines, and their memory is not" },
	{ NCP_SUPER_MAGIC, "NCP is shared by machines, and their memory is not" },
	{ CEPH_SUPER_MAGIC, "Ceph is shared by machines, and their memory is not" },
	{ AFS_FS_MAGIC, "AFS is shared by machines, and their memory is not" },
	{ AFS_SUPER_MAGIC, "AFS is shared by machines, and their memory is not" },
	{ CODA_SUPER_MAGIC, "Coda is shared by machines, and their memory is not" },
	{ V9FS_MAGIC, "9P is shared by machines, and their memory is not" },
	{ GFS2_MAGIC, "GFS2 is shared by machines, and their memory is not" },
	{ OCFS2_SUPER_MAGIC, "OCFS2 is shared by machines, and their memory is not" },
	{ LUSTRE_MAGIC, "Lustre is shared by machines, and their memory is not" },
	{ GPFS_MAGIC, "GPFS is shared by machines, and their memory is not" },
	{ FUSE_SUPER_MAGIC, "what is behind FUSE may be shared by machines, and their memory is "
			    "not" },
};

bool journal_can_share(const char *path, const char **ret_why)
{
	struct statfs fs;

	if (statfs(path, &fs) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(unshared); i++)
		if ((unsigned long)(uint32_t)fs.f_type == unshared[i].magic) {
			*ret_why = unshared[i].why;
			return false;
		}
	return true;
}

int64_t journal_pending(const char *path)
{
	cleanup_free char *wal = durable_wal_of(path);
	struct stat st;

	return stat(wal, &st) < 0 ? 0 : st.st_size;
}

/* Sets or asks (NULL) for the mode; which it is now into audit->journal. -1: it failed. */
static int set_mode(struct audit *audit, const char *mode)
{
	cleanup_free char *sql =
		mem_printf("PRAGMA journal_mode%s%s", mode ? " = " : "", mode ? mode : "");
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(audit->db, sql, -1, &stmt, NULL);

	if (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW) {
		audit->journal[0] = '\0';
		strncat(audit->journal, db_column(stmt, 0), sizeof(audit->journal) - 1);
	}
	return sqlite3_finalize(stmt) == SQLITE_OK && rc == SQLITE_OK ? 0 : -1;
}

const char *journal_name(struct audit *audit)
{
	set_mode(audit, NULL);
	return audit->journal;
}

static bool is_wal(const struct audit *audit)
{
	return !strcmp(audit->journal, "wal");
}

/* Instead of SQLite's own, which checkpoints without the write lock. */
static int count_pages(void *self, sqlite3 *db, const char *name, int pages)
{
	struct audit *audit = self;

	(void)db;
	(void)name;
	audit->wal_pages = pages;
	return SQLITE_OK;
}

/* As this process closes it: the last one leaves an empty file, not none, so that the next
 * need not make it. */
static void keep_files(struct audit *audit)
{
	int keep = 1;

	sqlite3_file_control(audit->db, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}

/* From a rollback journal, which goes: it may hold pages of runs that were removed. */
static int to_wal(struct audit *audit)
{
	sqlite3_busy_timeout(audit->db, DB_SWITCH_MS);
	int rc = set_mode(audit, NULL);
	if (!rc && !is_wal(audit))
		rc = set_mode(audit, "PERSIST") < 0 || set_mode(audit, "DELETE") < 0 ||
				     set_mode(audit, "WAL") < 0 ?
			     -1 :
			     0;
	sqlite3_busy_handler(audit->db, db_busy, audit);
	return rc;
}

static int to_rollback(struct audit *audit, struct error *err)
{
	if (set_mode(audit, "PERSIST") < 0)
		return db_fail(audit, "set the journal", err);
	if (is_wal(audit))
		return error_set(
			err, ERR_LOG,
			"audit log %s: has a write-ahead log, which this file system cannot "
			"hold, and is in use by another program; close that one first",
			audit->path);
	return 0;
}

void journal_read(struct audit *audit)
{
	keep_files(audit);
	const char *why = NULL;
	if (strcmp(journal_name(audit), "wal") && !journal_can_share(audit->path, &why))
		audit->journal_why = mem_strdup(why);
}

int journal_choose(struct audit *audit, struct error *err)
{
	const char *why = NULL;

	if (!journal_can_share(audit->path, &why)) {
		audit->journal_why = mem_strdup(why);
		return to_rollback(audit, err);
	}
	sqlite3_wal_hook(audit->db, count_pages, audit);
	keep_files(audit);
	if (to_wal(audit) == 0 && is_wal(audit))
		return 0;
	audit->journal_why = mem_strdup(sqlite3_errcode(audit->db) == SQLITE_BUSY ||
							sqlite3_errcode(audit->db) == SQLITE_OK ?
						"another program has the file open" :
						sqlite3_errmsg(audit->db));
	return to_rollback(audit, err);
}

/* Somebody else holds what is needed: no page is copied, neither now nor by the lesser kind of
 * checkpoint that SQLite would go on with, which does without the write lock. */
static int give_up(void *self, int count)
{
	struct audit *audit = self;

	(void)count;
	sqlite3_interrupt(audit->db);
	return 0;
}

/* Moves all into the file and empties the write-ahead log. False when it could not. */
static bool shrink(struct audit *audit)
{
	sqlite3_busy_handler(audit->db, give_up, audit);
	int pages = 0;
	int rc = sqlite3_wal_checkpoint_v2(audit->db, "main", SQLITE_CHECKPOINT_TRUNCATE, &pages,
					   NULL);
	sqlite3_busy_handler(audit->db, db_busy, audit);
	if (rc != SQLITE_OK)
		return false;
	audit->wal_pages = 0;
	durable_emptied(audit);
	return true;
}

void journal_after_commit(struct audit *audit)
{
	if (is_wal(audit) && audit->wal_pages >= SHRINK_PAGES)
		shrink(audit);
}

/*
 * What is in the write-ahead log is on the disk then, and stays there. As the last one to close it,
 * SQLite copies it into the file and need not wait for the disk: whatever a power cut leaves of
 * that copy, it is made again from the write-ahead log, which nobody begins anew before the file
 * was synced. For who opens it next knows nothing of the copy: it was made when nobody else had the
 * file open, and what connections share ends with the last of them.
 */
int journal_leave(struct audit *audit, struct error *err)
{
	if (!is_wal(audit) || audit->wal_fd < 0 || journal_pending(audit->path) > LEAVE_BYTES)
		return 0;
	audit->unsynced = true; /* or somebody's who was killed */
	if (durable_sync(audit, err) < 0)
		return -1;
	return db_exec(audit, "PRAGMA journal_size_limit = -1; PRAGMA synchronous = OFF", "close",
		       err);
}

void journal_settle(struct audit *audit)
{
	if (is_wal(audit))
		shrink(audit);
}

bool journal_scrub(struct audit *audit)
{
	if (!is_wal(audit))
		return true;
	for (int i = 0; i < SCRUB_TRIES; i++) {
		if (shrink(audit))
			return true;
		usleep(SCRUB_SLEEP_US);
	}
	return false;
}
