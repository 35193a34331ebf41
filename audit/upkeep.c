/*
 * What is done with the log as a whole: removal, a copy. It takes away only
 * what no run needs.
 */
#include "audit/audit.h"

#include "audit/contents.h"
#include "audit/counts.h"
#include "audit/db.h"
#include "audit/event.h"
#include "audit/journal.h"
#include "audit/ledger.h"
#include "audit/objects.h"
#include "audit/query.h"
#include "audit/search.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define REMOVED_AT_ONCE	  50
#define PAGES_AT_ONCE	  256 /* a MiB */
#define BETWEEN_PIECES_US 2000
#define BEGIN_AGAIN_MAX	  20

/* --- removal --- */

/* What the run refers to, kept aside: its rows go before its blobs may. */
static int collect_blobs(struct audit *audit, int64_t run, struct error *err)
{
	return db_run(audit, err,
		      "INSERT OR IGNORE INTO temp.orphans SELECT blob FROM refs WHERE run = ?1",
		      "i", run);
}

static int remove_rows(struct audit *audit, const char *id, struct error *err)
{
	int64_t run = 0;
	int rc = query_no(audit, id, &run, err);

	if (rc < 0)
		return -1;
	if (!rc)
		return error_set(err, ERR_USAGE, "the log has no run %s", id);
	if (ledger_removed(audit, run, id, "log rm", err) < 0 ||
	    search_remove(audit, run, err) < 0 || counts_run(audit, run, -1, err) < 0 ||
	    collect_blobs(audit, run, err) < 0 || objects_collect(audit, run, err) < 0 ||
	    contents_forget_run(audit, run, err) < 0 ||
	    db_run(audit, err, "DELETE FROM events WHERE place > ?1 AND place < ?2", "ii",
		   EVENT_PLACE(run, 0), EVENT_PLACE(run + 1, 0)) < 0 ||
	    db_run(audit, err, "DELETE FROM refs WHERE run = ?1", "i", run) < 0 ||
	    db_run(audit, err, "DELETE FROM tags WHERE run = ?1", "i", run) < 0)
		return -1;
	return db_run(audit, err, "DELETE FROM runs WHERE no = ?1", "i", run);
}

/* What is left in temp.orphans has gone. */
static int remove_orphans(struct audit *audit, struct error *err)
{
	/* Each is looked up: IN would have SQLite go through all of refs instead. */
	if (db_run(audit, err,
		   "DELETE FROM temp.orphans WHERE EXISTS (SELECT 1 FROM main.refs f"
		   " WHERE f.blob = temp.orphans.no)",
		   "") < 0)
		return -1;
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT count(*), total(b.size), total(b.redactions) FROM temp.orphans o"
			 " JOIN main.blobs b ON b.no = o.no",
			 "");
	if (!stmt || db_step(audit, stmt, err) < 0 ||
	    counts_add(audit, "blobs", NULL, -sqlite3_column_int64(stmt, 0), err) < 0 ||
	    counts_add(audit, "blob_bytes", NULL, -sqlite3_column_int64(stmt, 1), err) < 0 ||
	    counts_add(audit, "redactions", NULL, -sqlite3_column_int64(stmt, 2), err) < 0 ||
	    contents_forget_orphans(audit, err) < 0)
		return -1;
	return db_run(audit, err,
		      "DELETE FROM main.blobs WHERE no IN (SELECT no FROM temp.orphans)", "");
}

static int remove_some(struct audit *audit, const char *const *runs, size_t count,
		       struct error *err)
{
	if (db_begin(audit, err) < 0 || db_run(audit, err, "DELETE FROM temp.orphans", "") < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (remove_rows(audit, runs[i], err) < 0)
			return -1;
	return remove_orphans(audit, err) < 0 || audit_commit(audit, err) < 0 ? -1 : 0;
}

/* Nothing of a run was lost: what the log holds is as it was before this step. */
static int undo(struct audit *audit)
{
	db_abort(audit);
	audit->failed = false;
	return -1;
}

/* In steps, so that who writes waits for one at most; where there is little room, in the
 * smallest. */
static int remove_steps(struct audit *audit, const char *const *runs, size_t count,
			struct error *err)
{
	size_t step = REMOVED_AT_ONCE;

	for (size_t i = 0; i < count;) {
		size_t n = count - i < step ? count - i : step;

		if (remove_some(audit, runs + i, n, err) < 0) {
			undo(audit);
			if (audit->code != SQLITE_FULL || n == 1)
				return -1;
			error_clear(err);
			journal_settle(audit); /* what was tried takes the room that is needed */
			step = 1;
			continue;
		}
		i += n;
		journal_settle(audit);
	}
	return 0;
}

/* How many pages are free, that the file need not have. */
static int free_pages(struct audit *audit, int64_t *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, "PRAGMA freelist_count", "");

	if (!stmt || db_step(audit, stmt, err) <= 0)
		return -1;
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

/* In steps, too. A log that was made without it keeps its size. */
static int give_back(struct audit *audit, struct error *err)
{
	int64_t after;

	if (free_pages(audit, &after, err) < 0)
		return -1;
	int64_t before;
	do {
		before = after;
		if (db_exec(audit, "PRAGMA incremental_vacuum(64)", "shrink", err) < 0 ||
		    free_pages(audit, &after, err) < 0)
			return -1;
		journal_settle(audit);
	} while (after && after < before);
	return 0;
}

/* What is left of the words goes, with what the runs alone shared, and freed pages go back to the
 * file system. */
static int tidy(struct audit *audit, struct error *err)
{
	int rc = 1;

	while (rc > 0) {
		rc = db_begin(audit, err) < 0 ? -1 : search_scrub(audit, err);
		if (rc >= 0 && audit_commit(audit, err) < 0)
			rc = -1;
	}
	if (rc >= 0 && objects_remove(audit, err) == 0 && give_back(audit, err) == 0)
		return 0;
	undo(audit);
	if (audit->code != SQLITE_FULL)
		return -1;
	error_clear(err);
	db_note(audit,
		mem_strdup("the runs are removed, but for lack of room single words of them are "
			   "still in the full-text index, and the file is as large as it was; "
			   "log reindex takes them out when there is room"));
	return 0;
}

static int remove_now(struct audit *audit, const char *const *runs, size_t count, struct error *err)
{
	audit->tip.run[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		int64_t no;
		int rc = query_no(audit, runs[i], &no, err);

		if (rc <= 0)
			return rc < 0 ? -1 :
					error_set(err, ERR_USAGE, "the log has no run %s", runs[i]);
	}
	return remove_steps(audit, runs, count, err) < 0 ? -1 : tidy(audit, err);
}

/* What was removed is in the journal of its removal: it does not stay there. */
static int journal_of_removal(struct audit *audit, const char *mode, struct error *err)
{
	return strcmp(audit->journal, "wal") ? db_exec(audit, mode, "remove", err) : 0;
}

int audit_remove_all(struct audit *audit, const char *const *runs, size_t count, struct error *err)
{
	static const char begin[] =
		"CREATE TEMP TABLE IF NOT EXISTS orphans(no INTEGER PRIMARY KEY);"
		"DELETE FROM temp.orphans;";

	if (audit->failed || audit->read_only)
		return db_begin(audit, err);
	if (audit_commit(audit, err) < 0 || db_exec(audit, begin, "remove", err) < 0 ||
	    objects_begin(audit, err) < 0 ||
	    journal_of_removal(audit, "PRAGMA journal_mode = TRUNCATE", err) < 0)
		return -1;
	audit->at_once = true; /* nothing of a run is lost by that */
	int rc = remove_now(audit, runs, count, err);
	audit->at_once = false;
	struct error ignored = ERROR_INIT;
	journal_of_removal(audit, "PRAGMA journal_mode = PERSIST", &ignored);
	if (!rc && !journal_scrub(audit))
		db_note(audit, mem_printf("what was removed is in %s-wal until the program that "
					  "reads the log ends",
					  audit->path));
	return rc;
}

/* --- backup --- */

/*
 * In pieces. From a write-ahead log within one transaction, which stops nobody. Else the source
 * is let go between two pieces, so that who writes waits for one at most; SQLite begins again
 * when somebody has written, which leaves less to `remaining` than before.
 */
static int copy_pages(struct audit *audit, sqlite3 *to, const char *path, struct error *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", audit->db, "main");

	if (!backup)
		return error_set(err, ERR_LOG, "backup %s: %s", path, sqlite3_errmsg(to));
	int rc = SQLITE_OK, begun_again = 0, remaining = INT_MAX;
	while (rc == SQLITE_OK && begun_again < BEGIN_AGAIN_MAX && !stop_now(&audit->stop)) {
		rc = sqlite3_backup_step(backup, PAGES_AT_ONCE);
		begun_again += sqlite3_backup_remaining(backup) >= remaining;
		remaining = sqlite3_backup_remaining(backup);
		if (rc == SQLITE_OK && sqlite3_get_autocommit(audit->db))
			usleep(BETWEEN_PIECES_US);
	}
	sqlite3_backup_finish(backup);
	if (rc == SQLITE_DONE)
		return 0;
	if (begun_again == BEGIN_AGAIN_MAX)
		return error_set(err, ERR_LOG,
				 "backup %s: the log is written all the time; try when less runs",
				 path);
	if (rc == SQLITE_OK)
		return stop_check(&audit->stop, err);
	return error_set(err, ERR_LOG, "backup %s: %s", path, sqlite3_errstr(rc));
}

static int copy_all(struct audit *audit, sqlite3 *to, const char *path, struct error *err)
{
	if (strcmp(journal_name(audit), "wal"))
		return copy_pages(audit, to, path, err);
	if (db_exec(audit, "BEGIN; SELECT count(*) FROM sqlite_schema", "read", err) < 0)
		return -1;
	int rc = copy_pages(audit, to, path, err);
	sqlite3_exec(audit->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static int backup_into(struct audit *audit, const char *path, struct error *err)
{
	cleanup_free char *name = mem_printf("%s%s", path[0] == '/' ? "" : "./", path);
	sqlite3 *to = NULL;
	int rc;

	if (sqlite3_open_v2(name, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK)
		rc = error_set(err, ERR_LOG, "backup %s: %s", path, sqlite3_errmsg(to));
	else
		rc = copy_all(audit, to, path, err);
	sqlite3_close_v2(to);
	return rc;
}

int audit_backup(struct audit *audit, const char *path, struct error *err)
{
	if (!sqlite3_get_autocommit(audit->db))
		return error_set(err, ERR_LOG, "audit log %s: commit before a backup", audit->path);
	int fd = io_open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (fd < 0)
		return error_set_errno(err, ERR_LOG, errno, "backup %s", path);
	io_close(fd);
	if (backup_into(audit, path, err) < 0) {
		io_unlink(path);
		return -1;
	}
	return 0;
}
