/*
 * Hashes over runs that have no end, as far as they are written. What it says of a run it takes
 * from the run's rows and stored links: that those fit together is for the verification to say.
 */
#include "audit/head.h"

#include "audit/blob.h"
#include "audit/chain.h"
#include "audit/event.h"
#include "audit/member.h"
#include "audit/query.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BLOB_FIELDS "b.sha256, b.size, b.media_type, b.redactions"

void audit_head_release(struct audit_head *head)
{
	free(head->open);
	*head = (struct audit_head){ 0 };
}

/* What is said of the blobs that an event names goes into *link, too. */
static int add_named(struct audit *audit, const char *data, char link[HASH_HEX_LEN + 1],
		     struct error *err)
{
	char sha256[HASH_HEX_LEN + 1];
	struct member m;
	int64_t size;

	while (member_next(&data, &m))
		if (member_reference(m.value, m.end, sha256, &size) &&
		    chain_rows(audit,
			       db_query(audit, err,
					"SELECT " BLOB_FIELDS
					" FROM blobs b WHERE " BLOB_IS("b", "?1"),
					"t", sha256),
			       link, err) < 0)
			return -1;
	return 0;
}

/* The link of the last of so many events after the opening's, into ret; the hash over what the
 * blobs are that they name, into blobs. Fewer events leave *ret_events less. */
static int follow(struct audit *audit, int64_t run, int64_t *ret_events, char ret[HASH_HEX_LEN + 1],
		  char blobs[HASH_HEX_LEN + 1], struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(SIZE_MAX / 2);
	const int64_t last = EVENT_PLACE(run, *ret_events);

	*ret_events = 0;
	if (chain_run(audit, CHAIN_OPENING_SQL, run, NULL, ret, err) < 0)
		return -1;
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 EVENT_COLUMNS " WHERE e.place > ?1 AND e.place <= ?2 ORDER BY e.place",
			 "ii", EVENT_PLACE(run, 0), last);
	int rc = stmt ? 1 : -1;
	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		struct chain_event event;

		if (event_of_row(audit, stmt, "", &text, &event, err) < 0 ||
		    add_named(audit, event.data, blobs, err) < 0)
			return -1;
		chain_hex(stmt, EVENT_HASH_COLUMN, ret);
		++*ret_events;
	}
	return rc;
}

/* cover: over so many events, the tags, and what the blobs named by them are; whole: over all blobs
 * that are kept for the run as well. */
static int hash_run(struct audit *audit, int64_t run, struct audit_open_run *ret, struct error *err)
{
	char blobs[HASH_HEX_LEN + 1] = "";

	if (chain_rows(
		    audit,
		    db_query(audit, err,
			     "SELECT " BLOB_FIELDS " FROM runs r JOIN blobs b"
			     " ON b.no IN (r.prompt, r.config) WHERE r.no = ?1 ORDER BY b.sha256",
			     "i", run),
		    blobs, err) < 0 ||
	    follow(audit, run, &ret->events, ret->cover, blobs, err) < 0 ||
	    chain_rows(audit, db_query(audit, err, "SELECT ?1", "t", blobs), ret->cover, err) < 0 ||
	    chain_rows(audit,
		       db_query(audit, err, "SELECT tag FROM tags WHERE run = ?1 ORDER BY tag", "i",
				run),
		       ret->cover, err) < 0)
		return -1;
	memcpy(ret->whole, ret->cover, sizeof(ret->whole));
	return chain_rows(audit,
			  db_query(audit, err,
				   "SELECT " BLOB_FIELDS
				   " FROM refs f LEFT JOIN blobs b ON b.no = f.blob"
				   " WHERE f.run = ?1 ORDER BY b.sha256, f.blob",
				   "i", run),
			  ret->whole, err);
}

int head_open_runs(struct audit *audit, struct audit_head *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(
		audit, err, "SELECT no, id FROM runs WHERE ended_at_ms IS NULL ORDER BY no", "");
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		struct audit_open_run run = { .events = EVENT_MAX - 1 };

		strncat(run.id, db_column(stmt, 1), ULID_LEN);
		if (hash_run(audit, sqlite3_column_int64(stmt, 0), &run, err) < 0)
			return -1;
		ret->open = mem_array(ret->open, ret->open_count + 1, sizeof(*ret->open));
		ret->open[ret->open_count++] = run;
	}
	return rc;
}

/* Whether the log's own chain has an entry after place that a run was removed, or has ended. */
static int has_entry(struct audit *audit, const char *act, const char *id, int64_t place,
		     struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT 1 FROM ledger WHERE place > ?1 AND act = ?2 AND id = ?3", "itt",
			 place, act, id);

	return stmt ? db_step(audit, stmt, err) : -1;
}

/* Of a run that is there. */
static int compare(struct audit *audit, int64_t no, bool open, const struct audit_open_run *kept,
		   char **ret_bad, struct error *err)
{
	struct audit_open_run now = { .events = kept->events };
	int64_t events = EVENT_MAX - 1;
	char ignored[HASH_HEX_LEN + 1], blobs[HASH_HEX_LEN + 1] = "";

	if (hash_run(audit, no, &now, err) < 0 ||
	    follow(audit, no, &events, ignored, blobs, err) < 0)
		return -1;
	if (now.events < kept->events)
		*ret_bad = mem_printf("run %s had %lld events when the head was kept, and has %lld",
				      kept->id, (long long)kept->events, (long long)now.events);
	else if (strcmp(now.cover, kept->cover))
		*ret_bad = mem_printf("run %s was open when the head was kept, and what it said "
				      "then is not what it says",
				      kept->id);
	else if (open && events == kept->events && strcmp(now.whole, kept->whole))
		*ret_bad = mem_printf("run %s is open as when the head was kept, and needs other "
				      "blobs than then",
				      kept->id);
	return 0;
}

int head_check_run(struct audit *audit, int64_t place, const struct audit_open_run *kept,
		   char **ret_bad, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT no, ended_at_ms IS NULL FROM runs WHERE id = ?1", "t",
			 kept->id);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc < 0)
		return -1;
	bool open = rc && sqlite3_column_int(stmt, 1);
	int entry = open ? 1 : has_entry(audit, rc ? "ended" : "removed", kept->id, place, err);
	if (entry < 0)
		return -1;
	if (!entry)
		*ret_bad = mem_printf(rc ? "run %s was open when the head was kept, and the log's "
					   "chain does not say that it has ended" :
					   "run %s was open when the head was kept, and is gone "
					   "without having been removed",
				      kept->id);
	return entry && rc ?
		       compare(audit, sqlite3_column_int64(stmt, 0), open, kept, ret_bad, err) :
		       0;
}
