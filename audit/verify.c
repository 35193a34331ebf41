/*
 * Whether the log says what was written. It changes nothing, and believes
 * nothing that it has not computed.
 */
#include "audit/audit.h"

#include "audit/blob.h"
#include "audit/chain.h"
#include "audit/db.h"
#include "audit/event.h"
#include "audit/member.h"
#include "audit/query.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* One verification: what the rows say so far. */
struct check {
	struct audit *audit;
	const char *id;
	int64_t run;		     /* its no */
	char link[HASH_HEX_LEN + 1]; /* of the last event seen */
	int64_t seq;		     /* of the last event seen */
	char *bad;		     /* owned; the first thing wrong */
};

/* Every row of a query (NULL: it failed), until one is bad. */
static int check_rows(struct check *c, sqlite3_stmt *stmt,
		      int (*check_row)(struct check *c, sqlite3_stmt *stmt, struct error *err),
		      struct error *err)
{
	int rc = stmt ? 1 : -1;

	while (rc > 0 && !c->bad) {
		rc = db_step(c->audit, stmt, err);
		if (rc > 0 && check_row(c, stmt, err) < 0)
			rc = -1;
	}
	return rc < 0 ? -1 : 0;
}

/* --- blobs --- */

/* Every blob that the run's row or its refs name. */
#define OWN_BLOBS                                                                        \
	"WITH named(sha256) AS ("                                                        \
	" SELECT coalesce(b.sha256, 'no. ' || f.blob) FROM refs f"                       \
	"  LEFT JOIN blobs b ON b.no = f.blob WHERE f.run = ?1"                          \
	" UNION SELECT coalesce(b.sha256, 'no. ' || n.value) FROM runs r,"               \
	"  json_each(json_array(r.prompt, r.answer, r.config, r.code, r.output)) n"      \
	"  LEFT JOIN blobs b ON b.no = n.value WHERE r.no = ?1 AND n.value IS NOT NULL)" \
	" SELECT n.sha256, b.sha256, b.body, b.deflated, b.size FROM named n"            \
	" LEFT JOIN blobs b ON " BLOB_IS("b", "n.sha256")

static int check_blob(struct check *c, sqlite3_stmt *stmt, struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT(SIZE_MAX / 2);
	int rc = blob_body(stmt, 2, &bytes);

	(void)err;
	if (!rc) {
		c->bad = mem_printf("blob %s %s", db_column(stmt, 0),
				    *db_column(stmt, 1) ? "was purged" : "is missing");
		return 0;
	}
	char hash[HASH_HEX_LEN + 1];
	hash_sha256(bytes.data, bytes.len, hash);
	if (rc < 0 || strcmp(hash, db_column(stmt, 0)))
		c->bad = mem_printf("blob %s is not what was written", db_column(stmt, 0));
	else if (sqlite3_column_int64(stmt, 4) != (int64_t)bytes.len)
		c->bad = mem_printf("the size of blob %s is not what was written",
				    db_column(stmt, 0));
	return 0;
}

static int check_blobs(struct check *c, struct error *err)
{
	return check_rows(c, db_query(c->audit, err, OWN_BLOBS, "i", c->run), check_blob, err);
}

/* A blob that an event names is there, and kept for the run: then check_blobs looks at it. */
static int check_name(struct check *c, const char *sha256, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(c->audit, err,
			 "SELECT f.run FROM blobs b LEFT JOIN refs f ON f.run = ?2 AND"
			 " f.blob = b.no WHERE " BLOB_IS("b", "?1"),
			 "ti", sha256, c->run);
	int rc = stmt ? db_step(c->audit, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		c->bad = mem_printf("blob %s is missing", sha256);
	else if (sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		c->bad = mem_printf("blob %s is not kept for the run, which needs it", sha256);
	return 0;
}

/* --- events --- */

static void check_link(struct check *c, sqlite3_stmt *stmt, const struct chain_event *event)
{
	if (event->seq != c->seq + 1) {
		c->bad =
			mem_printf("event %lld is missing (%lld follows %lld)",
				   (long long)c->seq + 1, (long long)event->seq, (long long)c->seq);
		return;
	}
	char hash[HASH_HEX_LEN + 1];
	chain_event(event, c->link, hash);
	char stored[HASH_HEX_LEN + 1];
	chain_hex(stmt, EVENT_HASH_COLUMN, stored);
	if (strcmp(stored, hash)) {
		c->bad = mem_printf(c->seq ? "event %lld (%s %s) is not what was written" :
					     "event %lld (%s %s) or the run's opening fields are "
					     "not what was written",
				    (long long)event->seq, event->stage, event->phase);
		return;
	}
	c->seq = event->seq;
	memcpy(c->link, hash, sizeof(hash));
}

static int check_event(struct check *c, sqlite3_stmt *stmt, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(SIZE_MAX / 2);
	struct chain_event event;

	if (event_of_row(c->audit, stmt, c->id, &text, &event, err) < 0)
		return -1;
	check_link(c, stmt, &event);
	char sha256[HASH_HEX_LEN + 1];
	struct member m;
	int64_t size;
	for (const char *at = text.data; !c->bad && member_next(&at, &m);)
		if (member_reference(m.value, m.end, sha256, &size) &&
		    check_name(c, sha256, err) < 0)
			return -1;
	return 0;
}

static int check_events(struct check *c, struct error *err)
{
	if (chain_run(c->audit, CHAIN_OPENING_SQL, c->run, NULL, c->link, err) < 0)
		return -1;
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(c->audit, err,
			 EVENT_COLUMNS " WHERE e.place >= ?1 AND e.place < ?2 ORDER BY e.place",
			 "ii", EVENT_PLACE(c->run, 0), EVENT_PLACE(c->run + 1, 0));
	return check_rows(c, stmt, check_event, err);
}

/* Of an ended run: its events are all there, and its row is as it ended. */
static int check_end(struct check *c, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(c->audit, err,
			 "SELECT ended_at_ms, event_count, seal, status = 'started' AND"
			 " level = 'none' AND attempts = 0 AND input_tokens = 0 AND"
			 " output_tokens = 0 AND coalesce(reason, exit_code, cost_micro_usd,"
			 " answer, code, output, event_count, seal) IS NULL"
			 " FROM runs WHERE no = ?1",
			 "i", c->run);

	if (!stmt || db_step(c->audit, stmt, err) < 0)
		return -1;
	if (sqlite3_column_type(stmt, 0) == SQLITE_NULL) {
		if (!sqlite3_column_int(stmt, 3))
			c->bad = mem_strdup("the run has not ended, and its row has a result");
		return 0;
	}
	if (sqlite3_column_int64(stmt, 1) != c->seq) {
		c->bad = mem_printf("the run ended after %lld events, %lld are there",
				    (long long)sqlite3_column_int64(stmt, 1), (long long)c->seq);
		return 0;
	}
	char seal[HASH_HEX_LEN + 1];
	if (chain_run(c->audit, CHAIN_SEAL_SQL, c->run, c->link, seal, err) < 0)
		return -1;
	if (strcmp(db_column(stmt, 2), seal))
		c->bad = mem_strdup("the run's result is not what was written");
	return 0;
}

/* What is beside an ended run, its tags and blobs, is in the log's own chain. */
static int check_cover(struct check *c, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(c->audit, err,
			 "SELECT l.cover FROM runs r JOIN ledger l ON l.run = r.no AND l.id = r.id"
			 " AND l.act = 'ended' WHERE r.no = ?1 AND r.ended_at_ms IS NOT NULL",
			 "i", c->run);
	int rc = stmt ? db_step(c->audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	char stored[HASH_HEX_LEN + 1];
	chain_hex(stmt, 0, stored);
	char cover[HASH_HEX_LEN + 1];
	if (chain_cover(c->audit, c->run, cover, err) < 0)
		return -1;
	if (strcmp(cover, stored))
		c->bad =
			mem_strdup("the run's tags, or what is said of its blobs, are not what was "
				   "written");
	return 0;
}

static int check_run(struct check *c, struct error *err)
{
	/* Events refer to blobs: what is wrong with one of those is told as that. */
	static int (*const checks[])(struct check * c,
				     struct error * err) = { check_blobs, check_events, check_end,
							     check_cover };
	int rc = query_no(c->audit, c->id, &c->run, err);

	if (!rc)
		return error_set(err, ERR_LOG, "audit log %s: no run %s", c->audit->path, c->id);
	for (size_t i = 0; rc >= 0 && i < ARRAY_SIZE(checks) && !c->bad; i++)
		rc = checks[i](c, err);
	return rc < 0 ? -1 : 0;
}

int audit_verify(struct audit *audit, const char *run, char **ret_bad, struct error *err)
{
	struct check c = { .audit = audit, .id = run };

	if (db_snapshot(audit, err) < 0)
		return -1;
	int rc = check_run(&c, err);
	db_snapshot_end(audit);
	if (!rc)
		*ret_bad = c.bad;
	else
		free(c.bad);
	return rc;
}
