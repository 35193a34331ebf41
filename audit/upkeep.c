#include "audit/audit.h"

#include "audit/db.h"
#include "audit/search.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* --- removal --- */

/* What the run refers to, kept aside: its rows go before its blobs may. */
static int collect_blobs(struct audit *audit, const char *run, struct error *err)
{
	return db_run(audit, err,
		      "INSERT OR IGNORE INTO temp.orphans SELECT sha256 FROM refs WHERE run_id = ?1"
		      " UNION SELECT prompt_sha256 FROM runs WHERE id = ?1"
		      " UNION SELECT config_sha256 FROM runs WHERE id = ?1"
		      " UNION SELECT answer_sha256 FROM runs WHERE id = ?1 AND answer_sha256 IS NOT"
		      " NULL", "t", run);
}

static int remove_rows(struct audit *audit, const char *run, struct error *err)
{
	if (collect_blobs(audit, run, err) < 0 || search_remove(audit, run, err) < 0 ||
	    db_run(audit, err, "DELETE FROM events WHERE run_id = ?1", "t", run) < 0 ||
	    db_run(audit, err, "DELETE FROM refs WHERE run_id = ?1", "t", run) < 0 ||
	    db_run(audit, err, "DELETE FROM tags WHERE run_id = ?1", "t", run) < 0 ||
	    db_run(audit, err, "DELETE FROM runs WHERE id = ?1", "t", run) < 0)
		return -1;
	if (!sqlite3_changes(audit->db))
		return error_set(err, ERR_USAGE, "the log has no run %s", run);
	return 0;
}

static int remove_orphans(struct audit *audit, struct error *err)
{
	return db_run(audit, err,
		      "DELETE FROM main.blobs WHERE sha256 IN (SELECT sha256 FROM temp.orphans)"
		      " AND NOT EXISTS (SELECT 1 FROM refs r WHERE r.sha256 = blobs.sha256)"
		      " AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.prompt_sha256 = blobs.sha256)"
		      " AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.config_sha256 = blobs.sha256)"
		      " AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.answer_sha256 = blobs.sha256)",
		      "");
}

static int remove_all(struct audit *audit, const char *const *runs, size_t count,
		      struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (remove_rows(audit, runs[i], err) < 0)
			return -1;
	if (remove_orphans(audit, err) < 0 || search_scrub(audit, err) < 0)
		return -1;
	/* Gives freed pages back to the file system. */
	return db_exec(audit, "PRAGMA incremental_vacuum", "shrink", err);
}

static int remove_now(struct audit *audit, const char *const *runs, size_t count,
		      struct error *err)
{
	if (db_begin(audit, err) < 0)
		return -1;
	audit->tip.run[0] = '\0';
	if (remove_all(audit, runs, count, err) < 0 || audit_commit(audit, err) < 0) {
		db_abort(audit);
		/* Nothing of a run was lost: what the log holds is as it was. */
		audit->failed = false;
		return -1;
	}
	return 0;
}

int audit_remove_all(struct audit *audit, const char *const *runs, size_t count,
		     struct error *err)
{
	static const char begin[] =
		"CREATE TEMP TABLE IF NOT EXISTS orphans(sha256 TEXT PRIMARY KEY);"
		"DELETE FROM temp.orphans;"
		/* The journal of this is what is removed: it does not stay. */
		"PRAGMA journal_mode = TRUNCATE";
	int rc;

	if (audit->failed || audit->read_only)
		return db_begin(audit, err);
	if (audit_commit(audit, err) < 0 || db_exec(audit, begin, "remove", err) < 0)
		return -1;
	rc = remove_now(audit, runs, count, err);
	sqlite3_exec(audit->db, "PRAGMA journal_mode = PERSIST", NULL, NULL, NULL);
	return rc;
}

/* --- backup --- */

static int copy_pages(struct audit *audit, sqlite3 *to, const char *path, struct error *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", audit->db, "main");
	int rc;

	if (!backup)
		return error_set(err, ERR_LOG, "backup %s: %s", path, sqlite3_errmsg(to));
	/* All pages in one step: the source's busy handler waits for writers. */
	rc = sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	return rc == SQLITE_DONE ? 0 : error_set(err, ERR_LOG, "backup %s: %s", path,
					       sqlite3_errstr(rc));
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
		rc = copy_pages(audit, to, path, err);
	sqlite3_close_v2(to);
	return rc;
}

int audit_backup(struct audit *audit, const char *path, struct error *err)
{
	int fd;

	if (!sqlite3_get_autocommit(audit->db))
		return error_set(err, ERR_LOG, "audit log %s: commit before a backup",
				 audit->path);
	fd = io_open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (fd < 0)
		return error_set_errno(err, ERR_LOG, errno, "backup %s", path);
	io_close(fd);
	if (backup_into(audit, path, err) < 0) {
		unlink(path);
		return -1;
	}
	return 0;
}

/* --- statistics --- */

/* {"name": count, ...} from rows of (name, count). */
static int count_by(struct audit *audit, const char *sql, struct json **ret, struct error *err)
{
	cleanup_json struct json *counts = json_object();
	sqlite3_stmt *stmt = db_query(audit, err, sql, "");
	int rc;

	if (!stmt)
		return -1;
	while ((rc = db_step(audit, stmt, err)) > 0)
		json_set_int(counts, db_column(stmt, 0),
			     sqlite3_column_int64(stmt, 1));
	if (rc < 0)
		return -1;
	*ret = TAKE_PTR(counts);
	return 0;
}

static int add_counts(struct audit *audit, struct json *stats, const char *key, const char *sql,
		      struct error *err)
{
	struct json *counts;

	if (count_by(audit, sql, &counts, err) < 0)
		return -1;
	json_set(stats, key, counts);
	return 0;
}

/* Members named as the columns of sql's one row; NULL stays null. */
static int add_totals(struct audit *audit, struct json *stats, const char *sql,
		      struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, sql, "");

	if (!stmt || db_step(audit, stmt, err) < 0)
		return -1;
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *name = sqlite3_column_name(stmt, i);

		if (sqlite3_column_type(stmt, i) == SQLITE_NULL)
			json_set_null(stats, name);
		else
			json_set_int(stats, name, sqlite3_column_int64(stmt, i));
	}
	return 0;
}

int audit_stats(struct audit *audit, struct json **ret, struct error *err)
{
	cleanup_json struct json *stats = json_object();

	json_set_string(stats, "path", audit->path);
	if (add_totals(audit, stats, "SELECT count(*) AS runs, min(started_at_ms) AS oldest_ms,"
		       " max(started_at_ms) AS newest_ms, total(input_tokens) AS input_tokens,"
		       " total(output_tokens) AS output_tokens, sum(cost_micro_usd) AS"
		       " cost_micro_usd, count(*) - count(cost_micro_usd) AS runs_cost_unknown"
		       " FROM runs", err) < 0 ||
	    add_counts(audit, stats, "by_status", "SELECT status, count(*) FROM runs GROUP BY 1",
		       err) < 0 ||
	    add_counts(audit, stats, "by_level", "SELECT level, count(*) FROM runs GROUP BY 1",
		       err) < 0 ||
	    add_counts(audit, stats, "by_kind", "SELECT kind, count(*) FROM runs GROUP BY 1",
		       err) < 0 ||
	    add_totals(audit, stats, "SELECT count(*) AS events FROM events", err) < 0 ||
	    add_totals(audit, stats, "SELECT count(*) AS blobs, total(size) AS blob_bytes,"
		       " total(redactions) AS redactions FROM blobs", err) < 0 ||
	    add_totals(audit, stats, "SELECT page_count * page_size AS file_bytes FROM"
		       " pragma_page_count, pragma_page_size", err) < 0)
		return -1;
	*ret = TAKE_PTR(stats);
	return 0;
}
