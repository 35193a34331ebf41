/*
 * What no run can say of itself: that none is missing, and that what is beside
 * the runs is theirs. In one snapshot, so that who writes meanwhile is no
 * alarm. What cannot be read is a finding, and the next question is asked.
 */
#include "audit/audit.h"

#include "audit/chain.h"
#include "audit/contents.h"
#include "audit/db.h"
#include "audit/event.h"
#include "audit/head.h"
#include "audit/schema.h"
#include "audit/verify_words.h"
#include "base/mem.h"

#include <string.h>

#define DAMAGES_MAX "20" /* of a damaged file, told at most */

struct look {
	struct audit *audit;
	int (*each)(void *self, const char *problem);
	void *self;
	const struct audit_head *kept; /* or NULL */
	struct audit_head head;	       /* of the rows seen so far */
};

static int tell(struct look *look, const char *problem)
{
	return look->each(look->self, problem);
}

/* Each row's first column is a finding, NULL and "ok" are none. */
static int look_at(struct look *look, const char *sql, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(look->audit, err, sql, "");
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(look->audit, stmt, err)) > 0) {
		const char *problem = db_column(stmt, 0);

		if (*problem && strcmp(problem, "ok"))
			tell(look, problem);
	}
	return rc;
}

static int look_at_file(struct look *look, struct error *err)
{
	return look_at(look, "PRAGMA integrity_check(" DAMAGES_MAX ")", err);
}

static int look_at_schema(struct look *look, struct error *err)
{
	cleanup_free char *odd = NULL;

	if (schema_compare(look->audit, &odd, err) < 0)
		return -1;
	cleanup_free char *problem =
		mem_printf("the log is not as this program makes it: it has %s", odd ? odd : "");
	if (odd)
		tell(look, problem);
	return 0;
}

/* --- the log's own chain --- */

static void compare_kept(struct look *look, int64_t place, const char *link)
{
	if (!look->kept || look->kept->place != place || !strcmp(look->kept->link, link))
		return;
	cleanup_free char *problem =
		mem_printf("the log's chain was replaced: entry %lld is another one than that of "
			   "the head that was kept",
			   (long long)place);
	tell(look, problem);
}

static void check_entry(struct look *look, sqlite3_stmt *stmt)
{
	char cover[HASH_HEX_LEN + 1];
	const struct chain_entry entry = {
		.place = sqlite3_column_int64(stmt, 0),
		.at_ms = sqlite3_column_int64(stmt, 1),
		.act = db_column(stmt, 2),
		.run = sqlite3_column_int64(stmt, 3),
		.id = (const char *)sqlite3_column_text(stmt, 4),
		.why = (const char *)sqlite3_column_text(stmt, 5),
		.cover = cover,
	};
	cleanup_free char *gap =
		mem_printf("the log's chain has no entry %lld", (long long)look->head.place + 1);
	cleanup_free char *changed =
		mem_printf("entry %lld of the log's chain (%s %s) is not what "
			   "was written",
			   (long long)entry.place, entry.act, entry.id ? entry.id : "");

	chain_hex(stmt, 6, cover);
	char stored[HASH_HEX_LEN + 1];
	chain_hex(stmt, 7, stored);
	char link[HASH_HEX_LEN + 1];
	chain_entry(&entry, look->head.link, link);
	if (entry.place != look->head.place + 1)
		tell(look, gap);
	else if (strcmp(link, stored))
		tell(look, changed);
	compare_kept(look, entry.place, stored);
	/* From here on by what is there: one change is one finding. */
	look->head.place = entry.place;
	memcpy(look->head.link, stored, sizeof(stored));
}

static int look_at_chain(struct look *look, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(look->audit, err,
			 "SELECT place, at_ms, act, run, id, why, cover, link FROM ledger"
			 " ORDER BY place",
			 "");
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(look->audit, stmt, err)) > 0)
		check_entry(look, stmt);
	return rc;
}

/* After the chain has been read. */
static int look_at_end(struct look *look, struct error *err)
{
	(void)err;
	if (!look->kept || look->kept->place <= look->head.place)
		return 0;
	cleanup_free char *problem =
		mem_printf("the log was cut off: its chain ends with entry %lld, and that of the "
			   "head that was kept is %lld",
			   (long long)look->head.place, (long long)look->kept->place);
	tell(look, problem);
	return 0;
}

/* Runs that were open when the head was kept. */
static int look_at_open(struct look *look, struct error *err)
{
	for (size_t i = 0; look->kept && i < look->kept->open_count; i++) {
		cleanup_free char *bad = NULL;

		if (head_check_run(look->audit, look->kept->place, &look->kept->open[i], &bad,
				   err) < 0)
			return -1;
		if (bad)
			tell(look, bad);
	}
	return head_open_runs(look->audit, &look->head, err);
}

static int look_at_meta(struct look *look, struct error *err)
{
	sqlite3_stmt *stmt =
		db_query(look->audit, err,
			 "SELECT m.key, m.value, l.cover FROM meta m"
			 " LEFT JOIN ledger l ON l.act = 'made' ORDER BY m.key != 'salt'",
			 "");
	char cover[HASH_HEX_LEN + 1] = "", stored[HASH_HEX_LEN + 1] = "";
	int rows = 0, rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(look->audit, stmt, err)) > 0) {
		if (rows++)
			continue;
		chain_row(stmt, 2, "", cover);
		chain_hex(stmt, 2, stored);
	}
	if (rows != 1 || strcmp(cover, stored))
		tell(look, "what was settled when the log was made (meta) is not what was written");
	return rc;
}

/* --- what must fit together --- */

static int look_at_runs(struct look *look, struct error *err)
{
	static const char *const questions[] = {
		"SELECT 'run ' || l.id || iif(r.no IS NULL, ' has ended, and is gone without having"
		" been removed', ' has ended, and its row says otherwise') FROM ledger l"
		" LEFT JOIN runs r ON r.no = l.run AND r.id = l.id WHERE l.act = 'ended'"
		" AND r.ended_at_ms IS NULL AND NOT EXISTS (SELECT 1 FROM ledger x"
		"  WHERE x.run = l.run AND x.id = l.id AND x.act = 'removed')",
		"SELECT 'run ' || r.id || ' has ended, and the log''s chain does not say so' FROM "
		"runs r"
		" WHERE r.ended_at_ms IS NOT NULL AND (SELECT count(*) FROM ledger l"
		"  WHERE l.run = r.no AND l.id = r.id AND l.act = 'ended') != 1",
		"SELECT 'run ' || l.id || ' was removed, and is there' FROM ledger l"
		" JOIN runs r ON r.no = l.run WHERE l.act = 'removed'",
		"SELECT 'run ' || x.id || ' was changed before it was removed' FROM ledger x"
		" JOIN ledger l ON l.run = x.run AND l.act = 'ended'"
		" WHERE x.act = 'removed' AND l.cover != x.cover",
		/* Numbers are given one after the other, and never twice. */
		"WITH seen(no) AS (SELECT no FROM runs UNION"
		" SELECT run FROM ledger WHERE act = 'removed'),"
		" gaps(no, before) AS (SELECT no, lag(no, 1, 0) OVER (ORDER BY no) FROM seen)"
		" SELECT iif(no = before + 2, 'run number ' || (no - 1) || ' is',"
		"  'run numbers ' || (before + 1) || ' to ' || (no - 1) || ' are')"
		"  || ' gone without having been removed' FROM gaps WHERE no != before + 1",
	};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(questions) && !rc; i++)
		rc = look_at(look, questions[i], err);
	return rc;
}

static int look_at_strays(struct look *look, struct error *err)
{
	static const char *const questions[] = {
		"SELECT count(*) || ' events belong to no run' FROM events e"
		" WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.no = e.place >> 20)"
		" HAVING count(*) > 0",
		"SELECT 'blob ' || b.sha256 || ' belongs to no run' FROM blobs b"
		" WHERE NOT EXISTS (SELECT 1 FROM refs f WHERE f.blob = b.no)",
		"SELECT 'a run ' || f.run || ' that is not there needs a blob ' || f.blob FROM "
		"refs f"
		" WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.no = f.run)",
		"SELECT 'a run ' || t.run || ' that is not there has a tag ' || t.tag FROM tags t"
		" WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.no = t.run)",
		"SELECT count(*) || ' events have a form that is not there' FROM events e"
		" WHERE NOT EXISTS (SELECT 1 FROM forms f WHERE f.no = e.form)"
		" HAVING count(*) > 0",
		"SELECT 'blob ' || sha256 || ' is there twice' FROM blobs GROUP BY sha256"
		" HAVING count(*) > 1",
		"SELECT 'blob ' || sha256 || ' is not kept in a way there is' FROM blobs"
		" WHERE deflated NOT IN (0, 1)",
		"SELECT 'object ' || no || ' is not what was written' FROM objects"
		" WHERE NOT json_valid(body)",
	};
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(questions) && !rc; i++)
		rc = look_at(look, questions[i], err);
	return rc;
}

/* What a form says nobody but its events asks: also one that no event has any more is looked at. */
static int look_at_forms(struct look *look, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(look->audit, err, "SELECT no, mark, stage, phase, body FROM forms", "");
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(look->audit, stmt, err)) > 0) {
		cleanup_free char *problem = mem_printf("form %lld is not what was written",
							(long long)sqlite3_column_int64(stmt, 0));

		if (event_mark(db_column(stmt, 2), db_column(stmt, 3), db_column(stmt, 4)) !=
		    sqlite3_column_int64(stmt, 1))
			tell(look, problem);
	}
	return rc;
}

/* As audit/counts.c counts, from the rows themselves. */
#define COUNTED                                                                               \
	"WITH own AS (SELECT *, replay_of IS NULL OR tier IS 'model' AS own FROM runs),"      \
	" counted(name, value) AS (SELECT 'runs', count(*) FROM runs"                         \
	" UNION ALL SELECT 'status ' || status, count(*) FROM runs GROUP BY 1"                \
	" UNION ALL SELECT 'level ' || level, count(*) FROM runs GROUP BY 1"                  \
	" UNION ALL SELECT 'kind ' || kind, count(*) FROM runs GROUP BY 1"                    \
	" UNION ALL SELECT 'input_tokens', total(input_tokens * own) FROM own"                \
	" UNION ALL SELECT 'output_tokens', total(output_tokens * own) FROM own"              \
	" UNION ALL SELECT 'cost_micro_usd', total(cost_micro_usd * own) FROM own"            \
	" UNION ALL SELECT 'cost_known', count(cost_micro_usd) FROM runs"                     \
	" UNION ALL SELECT 'events', total(event_count) FROM runs WHERE ended_at_ms NOT NULL" \
	" UNION ALL SELECT 'blobs', count(*) FROM blobs"                                      \
	" UNION ALL SELECT 'blob_bytes', total(size) FROM blobs"                              \
	" UNION ALL SELECT 'redactions', total(redactions) FROM blobs"                        \
	" UNION ALL SELECT 'run_numbers', max(coalesce((SELECT max(no) FROM runs), 0),"       \
	"  coalesce((SELECT max(run) FROM ledger), 0)))"

static int look_at_counts(struct look *look, struct error *err)
{
	if (look_at(look,
		    COUNTED
		    " SELECT 'the counter \"' || n.name || '\" says ' || coalesce(c.value, 0)"
		    " || ', there are ' || CAST(n.value AS INTEGER) FROM counted n"
		    " LEFT JOIN counts c ON c.name = n.name"
		    " WHERE coalesce(c.value, 0) != n.value",
		    err) < 0)
		return -1;
	return look_at(look,
		       COUNTED " SELECT 'the counter \"' || c.name || '\" says ' || c.value ||"
			       " ', there are none' FROM counts c WHERE c.value != 0"
			       " AND c.name NOT IN (SELECT name FROM counted"
			       "  UNION SELECT 'contents' UNION SELECT 'contents known')",
		       err);
}

static int look_at_contents(struct look *look, struct error *err)
{
	bool good;

	if (contents_check(look->audit, &good, err) < 0)
		return -1;
	if (!good)
		tell(look, "which run has which tag or blob, or what is said of a blob, is not "
			   "what was written");
	return 0;
}

static int look_at_words(struct look *look, struct error *err)
{
	cleanup_free char *problem = NULL;

	if (verify_words(look->audit, &problem, err) < 0)
		return -1;
	if (problem)
		tell(look, problem);
	return 0;
}

static int look_at_index(struct look *look, struct error *err)
{
	return look_at(
		look,
		"SELECT 'the full-text index lacks ' || count(*) || ' ended runs; assay log"
		" reindex makes it anew' FROM runs r WHERE r.ended_at_ms IS NOT NULL"
		" AND NOT EXISTS (SELECT 1 FROM search_docsize d WHERE d.id = r.no)"
		" HAVING count(*) > 0"
		" UNION ALL SELECT 'the full-text index has ' || count(*) || ' runs too many;"
		" assay log reindex makes it anew' FROM search_docsize d"
		" WHERE NOT EXISTS (SELECT 1 FROM runs r WHERE r.no = abs(d.id)"
		"  AND r.ended_at_ms IS NOT NULL) HAVING count(*) > 0",
		err);
}

/* --- all of it --- */

static int look_at_all(struct look *look, struct error *err)
{
	static int (*const looks[])(struct look * look, struct error * err) = {
		look_at_file,	  look_at_schema, look_at_chain,  look_at_end,	 look_at_open,
		look_at_meta,	  look_at_runs,	  look_at_strays, look_at_forms, look_at_counts,
		look_at_contents, look_at_index,  look_at_words,
	};

	for (size_t i = 0; i < ARRAY_SIZE(looks); i++) {
		if (looks[i](look, err) == 0)
			continue;
		if (err->kind != ERR_LOG) /* the deadline, an interrupt */
			return -1;
		tell(look, err->message);
		error_clear(err);
	}
	return 0;
}

int audit_verify_log(struct audit *audit, const struct audit_head *kept,
		     struct audit_head *ret_head, int (*each)(void *self, const char *problem),
		     void *self, struct error *err)
{
	struct look look = { .audit = audit, .each = each, .self = self, .kept = kept };

	if (db_snapshot(audit, err) < 0)
		return -1;
	int rc = look_at_all(&look, err);
	db_snapshot_end(audit);
	if (!rc)
		*ret_head = look.head;
	else
		audit_head_release(&look.head);
	return rc;
}
