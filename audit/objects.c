/*
 * Finds and removes objects that no event needs. Nothing says who needs one but the events: it
 * never takes one away without having looked at all of them, those written meanwhile with the file
 * locked.
 */
#include "audit/objects.h"

#include "audit/event.h"
#include "audit/form.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define RUNS_AT_ONCE 256
#define OBJECTS                                                             \
	"SELECT f.body, e.data FROM events e JOIN forms f ON f.no = e.form" \
	" WHERE e.place > ?1 AND e.place < ?2 AND instr(f.body, char(1) || 'o')"

/* Those that nobody was seen to need so far, in order. */
struct lone {
	int64_t *list;
	size_t count;
};

static void lone_release(struct lone *lone)
{
	free(lone->list);
}
#define cleanup_lone __attribute__((cleanup(lone_release)))

int objects_begin(struct audit *audit, struct error *err)
{
	return db_exec(audit,
		       "CREATE TEMP TABLE IF NOT EXISTS lone(no INTEGER PRIMARY KEY);"
		       "CREATE TEMP TABLE IF NOT EXISTS unended(no INTEGER PRIMARY KEY);"
		       "DELETE FROM temp.lone; DELETE FROM temp.unended;",
		       "remove", err);
}

/* Each object that events of runs from first on, before end, need, is given to each. */
static int each_needed(struct audit *audit, int64_t first, int64_t end,
		       int (*each)(void *self, int64_t object, struct error *err), void *self,
		       struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, OBJECTS, "ii", EVENT_PLACE(first, 0), EVENT_PLACE(end, 0));
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		int64_t objects[FORM_OBJECTS_MAX];
		const size_t count = form_objects(db_column(stmt, 0), db_column(stmt, 1), objects);

		for (size_t i = 0; i < count; i++)
			if (each(self, objects[i], err) < 0)
				return -1;
	}
	return rc;
}

static int collect(void *self, int64_t object, struct error *err)
{
	return db_run(self, err, "INSERT OR IGNORE INTO temp.lone VALUES(?1)", "i", object);
}

int objects_collect(struct audit *audit, int64_t run, struct error *err)
{
	return each_needed(audit, run, run + 1, collect, audit, err);
}

static int load(struct audit *audit, struct lone *lone, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT no FROM temp.lone ORDER BY no", "");
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		lone->list = mem_array(lone->list, lone->count + 1, sizeof(*lone->list));
		lone->list[lone->count++] = sqlite3_column_int64(stmt, 0);
	}
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* It is needed. */
static int keep(void *self, int64_t object, struct error *err)
{
	struct lone *lone = self;
	int64_t *at = lone->count ? bsearch(&object, lone->list, lone->count, sizeof(*lone->list),
					    by_number) :
				    NULL;

	(void)err;
	if (at)
		memmove(at, at + 1, (size_t)(lone->list + --lone->count - at) * sizeof(*at));
	return 0;
}

/* The runs there are: events are added to those that have no end, and to newer ones than the last,
 * alone. The last comes first: who begins meanwhile is newer. */
static int note_runs(struct audit *audit, int64_t *ret_last, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT coalesce(max(no), 0) FROM runs", "");

	if (!stmt || db_step(audit, stmt, err) <= 0)
		return -1;
	*ret_last = sqlite3_column_int64(stmt, 0);
	return db_run(audit, err,
		      "INSERT INTO temp.unended SELECT no FROM main.runs WHERE status = 'started'",
		      "");
}

/* What was written since note_runs. */
static int keep_of_late(struct audit *audit, int64_t last, struct lone *lone, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = NULL;

	if (each_needed(audit, last + 1, INT64_MAX >> EVENT_BITS, keep, lone, err) < 0)
		return -1;
	int64_t run = 0;
	int rc = 1;
	while (rc > 0) {
		stmt = db_query(audit, err,
				"SELECT no FROM temp.unended WHERE no > ?1 ORDER BY no LIMIT 1",
				"i", run);
		rc = stmt ? db_step(audit, stmt, err) : -1;
		if (rc <= 0)
			break;
		run = sqlite3_column_int64(stmt, 0);
		db_reset(&stmt);
		if (each_needed(audit, run, run + 1, keep, lone, err) < 0)
			return -1;
	}
	return rc;
}

int objects_remove(struct audit *audit, struct error *err)
{
	cleanup_lone struct lone lone = { .count = 0 };
	int64_t last = 0;

	if (load(audit, &lone, err) < 0 || (lone.count && note_runs(audit, &last, err) < 0))
		return -1;
	for (int64_t end = last + 1; lone.count && end > 0; end -= RUNS_AT_ONCE)
		if (each_needed(audit, end > RUNS_AT_ONCE ? end - RUNS_AT_ONCE : 0, end, keep,
				&lone, err) < 0)
			return -1;
	if (!lone.count)
		return 0;
	if (db_begin(audit, err) < 0 || keep_of_late(audit, last, &lone, err) < 0)
		return -1;
	for (size_t i = 0; i < lone.count; i++)
		if (db_run(audit, err, "DELETE FROM objects WHERE no = ?1", "i", lone.list[i]) < 0)
			return -1;
	return audit_commit(audit, err);
}
