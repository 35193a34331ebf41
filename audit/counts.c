/*
 * The counters of `log stats`. What is counted and how is here alone; that the
 * counters are true is for the verification to say.
 */
#include "audit/counts.h"

#include "base/mem.h"

int counts_add(struct audit *audit, const char *name, const char *word, int64_t by,
	       struct error *err)
{
	cleanup_free char *key = mem_printf("%s%s%s", name, word ? " " : "", word ? word : "");

	return by ? db_run(audit, err,
			   "INSERT INTO counts VALUES(?1, ?2)"
			   " ON CONFLICT(name) DO UPDATE SET value = value + excluded.value",
			   "ti", key, by) :
		    0;
}

int counts_run(struct audit *audit, int64_t run, int sign, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 /* What a replay repeats of a recorded model was paid for once. */
			 "SELECT status, level, kind, input_tokens * own, output_tokens * own,"
			 " coalesce(cost_micro_usd, 0) * own, cost_micro_usd IS NOT NULL,"
			 " iif(ended_at_ms IS NULL, 0, event_count) FROM (SELECT *,"
			 " replay_of IS NULL OR tier IS 'model' AS own FROM runs WHERE no = ?1)",
			 "i", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	if (counts_add(audit, "runs", NULL, sign, err) < 0 ||
	    counts_add(audit, "status", db_column(stmt, 0), sign, err) < 0 ||
	    counts_add(audit, "level", db_column(stmt, 1), sign, err) < 0 ||
	    counts_add(audit, "kind", db_column(stmt, 2), sign, err) < 0 ||
	    counts_add(audit, "input_tokens", NULL, sign * sqlite3_column_int64(stmt, 3), err) <
		    0 ||
	    counts_add(audit, "output_tokens", NULL, sign * sqlite3_column_int64(stmt, 4), err) <
		    0 ||
	    counts_add(audit, "cost_micro_usd", NULL, sign * sqlite3_column_int64(stmt, 5), err) <
		    0 ||
	    counts_add(audit, "cost_known", NULL, sign * sqlite3_column_int64(stmt, 6), err) < 0 ||
	    counts_add(audit, "events", NULL, sign * sqlite3_column_int64(stmt, 7), err) < 0)
		return -1;
	return 0;
}

int counts_blob(struct audit *audit, int64_t size, int64_t redactions, int sign, struct error *err)
{
	if (counts_add(audit, "blobs", NULL, sign, err) < 0 ||
	    counts_add(audit, "blob_bytes", NULL, sign * size, err) < 0)
		return -1;
	return counts_add(audit, "redactions", NULL, sign * redactions, err);
}

int counts_next_run(struct audit *audit, int64_t *ret, struct error *err)
{
	if (counts_add(audit, "run_numbers", NULL, 1, err) < 0)
		return -1;
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT value FROM counts WHERE name = 'run_numbers'", "");
	if (!stmt || db_step(audit, stmt, err) <= 0)
		return -1;
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}
