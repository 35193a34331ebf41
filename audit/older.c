/*
 * Copies a log of an older version into memory, where it can be brought up to date for a reader. It
 * writes no file, and changes nothing of the log.
 */
#include "audit/older.h"

#include <unistd.h>

/* Of a log that is copied to be looked at. */
#define COPIED_MAX ((int64_t)256 << 20)

static int check_size(struct audit *audit, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
			 "");

	if (!stmt || db_step(audit, stmt, err) < 0)
		return -1;
	int64_t size = sqlite3_column_int64(stmt, 0);
	if (size <= COPIED_MAX)
		return 0;
	return error_set(err, ERR_LOG,
			 "audit log %s: written by an older assay, and with %lld MiB too large to "
			 "be read as it is; %s, or assay log reindex, brings it up to date",
			 audit->path, (long long)(size >> 20),
			 access(audit->path, W_OK) == 0 ? "any run" :
							  "copy it to where it can be written: "
							  "there any run");
}

int older_copy(struct audit *audit, struct error *err)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
			  SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_EXRESCODE;

	if (check_size(audit, err) < 0)
		return -1;
	sqlite3 *copy = NULL;
	int rc = sqlite3_open_v2(":memory:", &copy, flags, NULL);
	sqlite3_backup *backup = NULL;
	if (rc == SQLITE_OK)
		backup = sqlite3_backup_init(copy, "main", audit->db, "main");
	if (backup) {
		sqlite3_backup_step(backup, -1);
		rc = sqlite3_backup_finish(backup);
	}
	if (!backup || rc != SQLITE_OK) {
		error_set(err, ERR_LOG, "audit log %s: read: %s", audit->path,
			  sqlite3_errmsg(copy));
		sqlite3_close_v2(copy);
		return -1;
	}
	db_close(audit);
	audit->db = copy;
	return 0;
}
