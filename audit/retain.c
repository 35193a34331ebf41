/*
 * Which runs a log need not keep: those that are too old, and the oldest of those whose contents
 * and events are beyond a size. Nothing is removed here. A run without an end is never named: it
 * may still be running.
 */
#include "audit/audit.h"

#include "audit/db.h"
#include "base/mem.h"

/* A content that several runs share is charged to the newest of them, which keeps it longest. */
#define OUTDATED                                                                          \
	"WITH sized AS (SELECT r.id, r.started_at_ms, r.status,"                          \
	" (SELECT total(b.size) FROM refs f JOIN blobs b ON b.no = f.blob"                \
	"  WHERE f.run = r.no AND NOT EXISTS (SELECT 1 FROM refs n WHERE n.blob = f.blob" \
	"  AND n.run > r.no))"                                                            \
	" + (SELECT total(length(e.data)) FROM events e WHERE e.place > r.no << 20"       \
	"  AND e.place < (r.no + 1) << 20) AS bytes"                                      \
	" FROM runs r WHERE r.ended_at_ms IS NOT NULL),"                                  \
	" counted AS (SELECT *, sum(bytes) OVER (ORDER BY id DESC) AS so_far FROM sized)" \
	" SELECT id FROM counted WHERE (started_at_ms < ?1 OR (?2 AND so_far > ?2))"      \
	" AND NOT (?3 AND status <> 'success') ORDER BY id DESC"

int audit_outdated(struct audit *audit, const struct audit_retention *keep,
		   int (*each)(void *self, const char *run), void *self, struct error *err)
{
	const int64_t before_ms = keep->before_ms ? keep->before_ms : INT64_MIN;
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, OUTDATED, "iii", before_ms,
						   keep->max_bytes, (int64_t)keep->failed);
	int rc = stmt ? 1 : -1;

	while (rc > 0) {
		rc = db_step(audit, stmt, err);
		if (rc > 0 && each(self, db_column(stmt, 0)))
			return 0;
	}
	return rc;
}
