/*
 * Statistics, from counters (counts.h) and a few look-ups: as long as the log
 * is, they take no time. They are what the counters say.
 */
#include "audit/audit.h"

#include "audit/db.h"
#include "audit/journal.h"
#include "base/mem.h"

#include <string.h>

/* {"word": count, ...} of the counters "name word"; without those that are none. */
static int add_words(struct audit *audit, struct json *stats, const char *key, const char *name,
		     struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(
		audit, err,
		"SELECT substr(name, length(?1) + 2), value FROM counts"
		" WHERE name > ?1 || ' ' AND name < ?1 || '!' AND value != 0 ORDER BY name",
		"t", name);
	struct json *words = json_object();
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0)
		json_set_int(words, db_column(stmt, 0), sqlite3_column_int64(stmt, 1));
	json_set(stats, key, words);
	return rc;
}

/* Members named as the columns of sql's one row; NULL stays null. */
static int add_row(struct audit *audit, struct json *stats, const char *sql, struct error *err)
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

/* A counter; 0 when it never counted. */
static int get_count(struct audit *audit, const char *name, int64_t *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT value FROM counts WHERE name = ?1", "t", name);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	*ret = rc > 0 ? sqlite3_column_int64(stmt, 0) : 0;
	return rc < 0 ? -1 : 0;
}

static int add_count(struct audit *audit, struct json *stats, const char *name, struct error *err)
{
	int64_t value;

	if (get_count(audit, name, &value, err) < 0)
		return -1;
	json_set_int(stats, name, value);
	return 0;
}

/* What is unknown of every run is unknown. */
static int add_cost(struct audit *audit, struct json *stats, struct error *err)
{
	int64_t runs, known, cost;

	if (get_count(audit, "runs", &runs, err) < 0 ||
	    get_count(audit, "cost_known", &known, err) < 0 ||
	    get_count(audit, "cost_micro_usd", &cost, err) < 0)
		return -1;
	if (known)
		json_set_int(stats, "cost_micro_usd", cost);
	else
		json_set_null(stats, "cost_micro_usd");
	json_set_int(stats, "runs_cost_unknown", runs - known);
	return 0;
}

/* Minimum and maximum each by the index: in one query they would look at all. */
static int add_runs(struct audit *audit, struct json *stats, struct error *err)
{
	if (add_count(audit, stats, "runs", err) < 0 ||
	    add_row(audit, stats,
		    "SELECT (SELECT min(started_at_ms) FROM runs) AS oldest_ms,"
		    " (SELECT max(started_at_ms) FROM runs) AS newest_ms",
		    err) < 0 ||
	    add_count(audit, stats, "input_tokens", err) < 0 ||
	    add_count(audit, stats, "output_tokens", err) < 0)
		return -1;
	return add_cost(audit, stats, err);
}

int audit_stats(struct audit *audit, struct json **ret, struct error *err)
{
	cleanup_json struct json *stats = json_object();

	json_set_string(stats, "path", audit->path);
	json_set_string(stats, "journal", journal_name(audit));
	if (audit->journal_why)
		json_set_string(stats, "journal_why", audit->journal_why);
	if (add_runs(audit, stats, err) < 0 ||
	    add_words(audit, stats, "by_status", "status", err) < 0 ||
	    add_words(audit, stats, "by_level", "level", err) < 0 ||
	    add_words(audit, stats, "by_kind", "kind", err) < 0 ||
	    add_count(audit, stats, "events", err) < 0 ||
	    add_count(audit, stats, "blobs", err) < 0 ||
	    add_count(audit, stats, "blob_bytes", err) < 0 ||
	    add_count(audit, stats, "redactions", err) < 0 ||
	    add_row(audit, stats,
		    "SELECT page_count * page_size AS file_bytes FROM"
		    " pragma_page_count, pragma_page_size",
		    err) < 0)
		return -1;
	*ret = TAKE_PTR(stats);
	return 0;
}
