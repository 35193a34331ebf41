/*
 * Statistics by bucket: how often runs of a model, a day or a tag succeeded, how long they took
 * and what they used. One pass over the rows of runs in SQL; no blob and no event is read.
 * Replays are left out: what they count was counted when it happened.
 */
#include "audit/audit.h"

#include "audit/db.h"
#include "base/mem.h"

#include <string.h>

/* Only times between two dates: a forged log holds others. */
#define TOOK                                                                           \
	"CASE WHEN ended_at_ms >= started_at_ms AND started_at_ms > 0 AND ended_at_ms" \
	" < 253402300800000 THEN ended_at_ms - started_at_ms END"
/* A model replied, and did not say how many: each call has some. */
#define UNCOUNTED                                                            \
	"(provider IS NOT NULL AND (attempts > 0 OR answer IS NOT NULL) AND" \
	" input_tokens = 0 AND output_tokens = 0)"
#define CHOSEN(name, source)                                                                    \
	"WITH chosen AS (SELECT " name " AS name, status, " TOOK " AS took,"                    \
	" input_tokens, output_tokens, cost_micro_usd, ended_at_ms, " UNCOUNTED                 \
	" AS uncounted FROM " source " WHERE replay_of IS NULL AND (?1 IS NULL OR status = ?1)" \
	" AND (?2 IS NULL OR level = ?2) AND (?3 IS NULL OR model GLOB ?3)"                     \
	" AND (?4 IS NULL OR cost_micro_usd > ?4) AND started_at_ms >= ?5"                      \
	" AND (?6 IS NULL OR no IN (SELECT run FROM tags WHERE tag = ?6))"                      \
	" ORDER BY id DESC LIMIT ?7),"                                                          \
	" ranked AS (SELECT *, row_number() OVER (PARTITION BY name ORDER BY"                   \
	" took IS NULL, took) AS rank, count(took) OVER (PARTITION BY name) AS timed"           \
	" FROM chosen)"                                                                         \
	" SELECT name, count(*), sum(status = 'success'), sum(ended_at_ms IS NULL),"            \
	" min(CASE WHEN rank = (timed * 50 + 99) / 100 THEN took END),"                         \
	" min(CASE WHEN rank = (timed * 95 + 99) / 100 THEN took END),"                         \
	" total(input_tokens), total(output_tokens), CASE WHEN count(cost_micro_usd)"           \
	" THEN total(cost_micro_usd) END, count(*) - count(cost_micro_usd),"                    \
	" sum(uncounted)"                                                                       \
	" FROM ranked GROUP BY name ORDER BY name IS NULL, name"

static const struct {
	const char *name, *sql;
} kinds[] = {
	[AUDIT_BY_ALL] = { "all", CHOSEN("'all'", "runs") },
	[AUDIT_BY_MODEL] = { "model", CHOSEN("model", "runs") },
	[AUDIT_BY_DAY] = { "day",
			   CHOSEN("date(started_at_ms / 1000, 'unixepoch', 'localtime')", "runs") },
	[AUDIT_BY_TAG] = { "tag", CHOSEN("tag", "runs LEFT JOIN tags ON run = no") },
	[AUDIT_BY_STATUS] = { "status", CHOSEN("CASE WHEN ended_at_ms IS NULL THEN"
					       " 'unfinished' ELSE status END",
					       "runs") },
	[AUDIT_BY_LEVEL] = { "level", CHOSEN("level", "runs") },
	[AUDIT_BY_KIND] = { "kind", CHOSEN("kind", "runs") },
};
_Static_assert(ARRAY_SIZE(kinds) == AUDIT_BY_COUNT, "a row for each");

const char *audit_by_name(enum audit_by by)
{
	return kinds[by].name;
}

int audit_by_parse(const char *name)
{
	for (int i = 0; i < AUDIT_BY_COUNT; i++)
		if (i != AUDIT_BY_ALL && !strcmp(kinds[i].name, name))
			return i;
	return -1;
}

static int64_t int_or_none(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ?
		       -1 :
		       sqlite3_column_int64(stmt, column);
}

static int each_row(struct audit *audit, sqlite3_stmt *stmt,
		    int (*each)(void *self, const struct audit_bucket *bucket), void *self,
		    struct error *err)
{
	int rc;

	while ((rc = db_step(audit, stmt, err)) > 0) {
		cleanup_free char *name = db_text(stmt, 0);
		const struct audit_bucket bucket = {
			.name = name,
			.runs = sqlite3_column_int64(stmt, 1),
			.success = sqlite3_column_int64(stmt, 2),
			.unfinished = sqlite3_column_int64(stmt, 3),
			.median_ms = int_or_none(stmt, 4),
			.p95_ms = int_or_none(stmt, 5),
			.input_tokens = sqlite3_column_int64(stmt, 6),
			.output_tokens = sqlite3_column_int64(stmt, 7),
			.cost_micro_usd = int_or_none(stmt, 8),
			.cost_unknown = sqlite3_column_int64(stmt, 9),
			.tokens_unknown = sqlite3_column_int64(stmt, 10),
		};

		if (each(self, &bucket))
			return 0;
	}
	return rc;
}

int audit_buckets(struct audit *audit, enum audit_by by, const struct audit_filter *filter,
		  int (*each)(void *self, const struct audit_bucket *bucket), void *self,
		  struct error *err)
{
	const int64_t cost = filter->cost_above_micro_usd ? *filter->cost_above_micro_usd : -1;
	const int64_t since_ms = filter->since_ms ? filter->since_ms : INT64_MIN;
	const int64_t limit = filter->limit ? filter->limit : -1;
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, kinds[by].sql, "tttniti", filter->status, filter->level,
			 filter->model, cost, since_ms, filter->tag, limit);

	return stmt ? each_row(audit, stmt, each, self, err) : -1;
}
