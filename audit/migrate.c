/*
 * The steps from versions 1 and 2, each to the version of today. Tables are put aside, made anew,
 * filled row by row, and the old ones dropped. Hashes are taken over as they are: a chain that was
 * broken stays so. Nothing is redacted again, and nothing decided.
 */
#include "audit/migrate.h"

#include "audit/blob.h"
#include "audit/counts.h"
#include "audit/event.h"
#include "audit/ledger.h"
#include "audit/query.h"
#include "audit/search.h"
#include "audit/share.h"
#include "base/embed.h"
#include "base/mem.h"

#include <string.h>

#define STEP_2 "audit/step-2.sql"
#define STEP_3 "audit/step-3.sql"

/* The statements of a file below the line "-- name". */
static int run_part(struct audit *audit, const char *file, const char *name, struct error *err)
{
	const struct embed *step = embed_find(file);
	cleanup_free char *mark = mem_printf("\n-- %s\n", name);
	const char *at = step ? strstr(step->data, mark) : NULL;

	if (!at)
		return error_set(err, ERR_LOG, "%s has no part \"%s\"", file, name);
	const char *end = strstr(at + 1, "\n-- ");
	cleanup_free char *sql = mem_strndup(at, end ? (size_t)(end - at) : strlen(at));
	return db_exec(audit, sql, "bring it up to date", err);
}

/* Each row of `rows` is given to act; a row is no longer needed when act returns. */
static int each_row(struct audit *audit, const char *rows,
		    int (*act)(struct audit *audit, sqlite3_stmt *stmt, struct error *err),
		    struct error *err)
{
	sqlite3_stmt *stmt = db_prepare(audit, rows, err);
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0)
		if (act(audit, stmt, err) < 0)
			rc = -1;
	sqlite3_finalize(stmt);
	return rc;
}

/* The hash is taken over, not made: a blob that was changed stays one. */
static int move_blob(struct audit *audit, sqlite3_stmt *stmt, struct error *err)
{
	cleanup_free char *sha256 = db_text(stmt, 0), *type = db_text(stmt, 2);
	const int64_t size = sqlite3_column_int64(stmt, 1);
	const int64_t redactions = sqlite3_column_int64(stmt, 3);
	const void *body = sqlite3_column_blob(stmt, 4);
	const size_t len = (size_t)sqlite3_column_bytes(stmt, 4);
	int64_t no;

	if (sqlite3_column_type(stmt, 4) != SQLITE_NULL && (int64_t)len == size)
		return blob_put(audit, sha256, type, redactions, len ? body : "", len, &no, err);
	/* Purged, or of another size than it says: as it is. */
	if (db_run(audit, err,
		   "INSERT INTO blobs(sha256, size, media_type, redactions, body)"
		   " SELECT sha256, size, media_type, redactions, body FROM old_blobs"
		   " WHERE sha256 = ?1",
		   "t", sha256) < 0)
		return -1;
	return counts_blob(audit, size, redactions, 1, err);
}

static int move_event(struct audit *audit, sqlite3_stmt *stmt, struct error *err)
{
	const struct chain_event event = {
		.run = db_column(stmt, 0),
		.seq = sqlite3_column_int64(stmt, 2),
		.at_ms = sqlite3_column_int64(stmt, 3),
		.stage = db_column(stmt, 4),
		.attempt = sqlite3_column_int64(stmt, 5),
		.phase = db_column(stmt, 6),
		.data = db_column(stmt, 7),
	};

	return event_insert(audit, sqlite3_column_int64(stmt, 1), &event, db_column(stmt, 8), err);
}

/* What was indexed of a run as blobs, which it refers to: usually they are there. */
static int store_words(struct audit *audit, sqlite3_stmt *stmt, int64_t run, int column,
		       int64_t *ret, struct error *err)
{
	struct cleaned text = {
		.bytes = db_column(stmt, column),
		.len = (size_t)sqlite3_column_bytes(stmt, column),
	};

	*ret = -1;
	return text.len ? blob_store(audit, run, "text/plain", &text, ret, err) : 0;
}

/* The rest of a run's row; what counts it, what ended it, and its words. */
static int finish_run(struct audit *audit, sqlite3_stmt *stmt, struct error *err)
{
	cleanup_free char *id = db_text(stmt, 1);
	const int64_t run = sqlite3_column_int64(stmt, 0);

	if (counts_run(audit, run, 1, err) < 0)
		return -1;
	if (sqlite3_column_type(stmt, 2) == SQLITE_NULL)
		return 0;
	int64_t code, output;
	if (store_words(audit, stmt, run, 3, &code, err) < 0 ||
	    store_words(audit, stmt, run, 4, &output, err) < 0 ||
	    db_run(audit, err, "UPDATE runs SET code = ?2, output = ?3 WHERE no = ?1", "inn", run,
		   code, output) < 0 ||
	    ledger_ended(audit, run, id, err) < 0)
		return -1;
	return search_add(audit, run, err);
}

int migrate_from_1(struct audit *audit, int (*make)(struct audit *audit, struct error *err),
		   struct error *err)
{
	if (run_part(audit, STEP_2, "before", err) < 0 || make(audit, err) < 0 ||
	    each_row(audit, "SELECT sha256, size, media_type, redactions, body FROM old_blobs",
		     move_blob, err) < 0 ||
	    run_part(audit, STEP_2, "between", err) < 0 || ledger_made(audit, err) < 0 ||
	    each_row(audit,
		     "SELECT e.run_id, r.no, e.seq, e.at_ms, e.stage, e.attempt, e.phase,"
		     " e.data_json, e.hash FROM runs r JOIN old_events e ON e.run_id = r.id"
		     " ORDER BY r.no, e.seq",
		     move_event, err) < 0 ||
	    each_row(audit,
		     "SELECT r.no, r.id, r.ended_at_ms, s.code, s.output FROM runs r"
		     " LEFT JOIN old_search_rows o ON o.run_id = r.id"
		     " LEFT JOIN old_search s ON s.rowid = o.rowid ORDER BY r.ended_at_ms",
		     finish_run, err) < 0)
		return -1;
	if (run_part(audit, STEP_2, "after", err) < 0)
		return -1;
	return db_exec(audit, "PRAGMA incremental_vacuum", "shrink", err);
}

/* --- from version 2 --- */

static int move_joined_event(struct audit *audit, sqlite3_stmt *stmt, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(SIZE_MAX / 2);
	const int64_t place = sqlite3_column_int64(stmt, 0);
	struct chain_event event = {
		.run = "",
		.seq = place & (EVENT_MAX - 1),
		.at_ms = sqlite3_column_int64(stmt, 1),
		.stage = db_column(stmt, 2),
		.attempt = sqlite3_column_int64(stmt, 3),
		.phase = db_column(stmt, 4),
	};

	share_join(db_column(stmt, 5), db_column(stmt, 6), &text);
	event.data = text.data;
	char hash[HASH_HEX_LEN + 1];
	chain_hex(stmt, 7, hash);
	return event_insert(audit, place >> EVENT_BITS, &event, hash, err);
}

/* The index's own tables, row by row: what it says of the texts is the same. */
static int move_words(struct audit *audit, struct error *err)
{
	sqlite3_db_config(audit->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	int rc = run_part(audit, STEP_3, "words", err);
	sqlite3_db_config(audit->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return rc;
}

int migrate_from_2(struct audit *audit, int (*make)(struct audit *audit, struct error *err),
		   struct error *err)
{
	if (run_part(audit, STEP_3, "before", err) < 0 || make(audit, err) < 0 ||
	    run_part(audit, STEP_3, "between", err) < 0 ||
	    each_row(audit,
		     "SELECT e.place, e.at_ms, e.stage, e.attempt, e.phase, e.data_json, s.body,"
		     " e.hash FROM old_events e LEFT JOIN old_objects s ON s.no = e.shared"
		     " ORDER BY e.place",
		     move_joined_event, err) < 0 ||
	    move_words(audit, err) < 0 || run_part(audit, STEP_3, "after", err) < 0)
		return -1;
	return db_exec(audit, "PRAGMA incremental_vacuum", "shrink", err);
}
