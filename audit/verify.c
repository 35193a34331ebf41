#include "audit/audit.h"

#include "audit/chain.h"
#include "audit/db.h"
#include "base/mem.h"

#include <string.h>

/* One verification: what the rows say so far. */
struct check {
	struct audit *audit;
	const char *run;
	char link[HASH_HEX_LEN + 1];	/* of the last event seen */
	int64_t seq;			/* of the last event seen */
	char *bad;			/* owned; the first thing wrong */
};

/* Columns: the seven hashed ones, then prev_hash and hash. */
static void check_event(struct check *c, sqlite3_stmt *stmt)
{
	const long long seq = sqlite3_column_int64(stmt, 1);
	char hash[HASH_HEX_LEN + 1];

	if (seq != c->seq + 1) {
		c->bad = mem_printf("event %lld is missing (%lld follows %lld)",
				    (long long)c->seq + 1, seq, (long long)c->seq);
		return;
	}
	if (strcmp(db_column(stmt, 7), c->link)) {
		c->bad = mem_printf(c->seq ? "event %lld does not follow the one before it" :
				    "event %lld does not follow the run's opening fields", seq);
		return;
	}
	chain_row(stmt, 7, c->link, hash);
	if (strcmp(db_column(stmt, 8), hash)) {
		c->bad = mem_printf("event %lld (%s %s) is not what was written", seq,
				    db_column(stmt, 3), db_column(stmt, 5));
		return;
	}
	c->seq = seq;
	memcpy(c->link, hash, sizeof(hash));
}

/* Every row of a query (NULL: it failed), until one is bad. */
static int check_rows(struct check *c, sqlite3_stmt *stmt,
		      void (*check_row)(struct check *c, sqlite3_stmt *stmt), struct error *err)
{
	int rc = stmt ? 1 : -1;

	while (rc > 0 && !c->bad) {
		rc = db_step(c->audit, stmt, err);
		if (rc > 0)
			check_row(c, stmt);
	}
	return rc < 0 ? -1 : 0;
}

static int check_events(struct check *c, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = NULL;

	if (chain_run(c->audit, CHAIN_OPENING_SQL, c->run, c->link, err) < 0)
		return -1;
	stmt = db_query(c->audit, err,
			"SELECT run_id, seq, at_ms, stage, attempt, phase, data_json, prev_hash,"
			" hash FROM events WHERE run_id = ?1 ORDER BY seq", "t", c->run);
	return check_rows(c, stmt, check_event, err);
}

/* Of an ended run: its events are all there, and its row is as it ended. */
static int check_end(struct check *c, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(c->audit, err,
		"SELECT ended_at_ms, event_count, last_hash, seal FROM runs WHERE id = ?1", "t",
		c->run);
	char seal[HASH_HEX_LEN + 1];

	if (!stmt || db_step(c->audit, stmt, err) < 0)
		return -1;
	if (sqlite3_column_type(stmt, 0) == SQLITE_NULL &&
	    sqlite3_column_type(stmt, 3) == SQLITE_NULL)
		return 0;
	if (sqlite3_column_int64(stmt, 1) != c->seq || strcmp(db_column(stmt, 2), c->link)) {
		c->bad = mem_printf("the run ended after %lld events, %lld are there",
				    (long long)sqlite3_column_int64(stmt, 1), (long long)c->seq);
		return 0;
	}
	if (chain_run(c->audit, CHAIN_SEAL_SQL, c->run, seal, err) < 0)
		return -1;
	if (strcmp(db_column(stmt, 3), seal))
		c->bad = mem_strdup("the run's result is not what was written");
	return 0;
}

/* Every blob that the run's row, its refs or the data of its events name. */
#define NAMED_BLOBS                                                                     \
	"WITH named(sha256) AS ("                                                       \
	" SELECT prompt_sha256 FROM runs WHERE id = ?1"                                 \
	" UNION SELECT config_sha256 FROM runs WHERE id = ?1"                           \
	" UNION SELECT answer_sha256 FROM runs WHERE id = ?1"                           \
	" UNION SELECT sha256 FROM refs WHERE run_id = ?1"                              \
	" UNION SELECT json_extract(j.value, '$.sha256') FROM events e,"                \
	"  json_each(e.data_json) j WHERE e.run_id = ?1 AND j.type = 'object'"          \
	"  AND json_type(j.value, '$.sha256') = 'text' AND"                             \
	"  json_type(j.value, '$.size') = 'integer' AND"                                \
	"  (SELECT count(*) FROM json_each(j.value)) = 2)"                              \
	" SELECT n.sha256, b.body, b.sha256 FROM named n"                               \
	" LEFT JOIN blobs b ON b.sha256 = n.sha256 WHERE n.sha256 IS NOT NULL"

static void check_blob(struct check *c, sqlite3_stmt *stmt)
{
	const void *bytes = sqlite3_column_blob(stmt, 1);
	size_t len = (size_t)sqlite3_column_bytes(stmt, 1);
	char hash[HASH_HEX_LEN + 1];

	if (sqlite3_column_type(stmt, 1) == SQLITE_NULL) {
		c->bad = mem_printf("blob %s %s", db_column(stmt, 0),
				    *db_column(stmt, 2) ? "was purged" : "is missing");
		return;
	}
	hash_sha256(len ? bytes : "", len, hash);
	if (strcmp(hash, db_column(stmt, 0)))
		c->bad = mem_printf("blob %s is not what was written", db_column(stmt, 0));
}

static int check_blobs(struct check *c, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(c->audit, err, NAMED_BLOBS, "t", c->run);

	return check_rows(c, stmt, check_blob, err);
}

int audit_verify(struct audit *audit, const char *run, char **ret_bad, struct error *err)
{
	struct check c = { .audit = audit, .run = run };
	int rc = check_events(&c, err);

	if (!rc && !c.bad)
		rc = check_end(&c, err);
	if (!rc && !c.bad)
		rc = check_blobs(&c, err);
	if (!rc)
		*ret_bad = c.bad;
	return rc;
}
