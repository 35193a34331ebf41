/*
 * Which runs, by what is asked for. Each is read when its turn comes, so that
 * the caller may take its time, or remove it. Nothing is written here.
 */
#include "audit/query.h"

#include "audit/blob.h"
#include "audit/db.h"
#include "audit/search.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SQL_MAX	    4096
#define PARAMS_MAX  16
#define FEW	    10000
#define PROGRAM_MAX ((size_t)1 << 20) /* that is looked at */

struct id_list {
	char (*ids)[ULID_LEN + 1]; /* owned */
	size_t count;
};

/* The ids first, then row by row: no lock is held and no statement open while
 * the caller looks at a row, so that it may remove it or take its time. */
static int list_ids(struct audit *audit, sqlite3_stmt *stmt, struct id_list *list,
		    struct error *err)
{
	size_t cap = 0;
	int rc;

	while ((rc = db_step(audit, stmt, err)) > 0) {
		if (list->count == cap) {
			cap = cap * 2 + 32;
			list->ids = mem_array(list->ids, cap, sizeof(*list->ids));
		}
		list->ids[list->count][0] = '\0';
		strncat(list->ids[list->count++], db_column(stmt, 0), ULID_LEN);
	}
	return rc;
}

/* The text of a query, made of what is asked for: each condition that is there can use its own
 * index, which one with "?1 IS NULL OR" could not. */
struct list_sql {
	struct buf text;
	struct {
		const char *text; /* NULL: number */
		int64_t number;
	} params[PARAMS_MAX];
	int count;
};

static void release_sql(struct list_sql *sql)
{
	buf_release(&sql->text);
}

static void add_text(struct list_sql *sql, const char *condition, const char *text)
{
	if (!text)
		return;
	buf_addf(&sql->text, " AND %s", condition);
	sql->params[sql->count++].text = text;
}

static void add_number(struct list_sql *sql, const char *condition, int64_t number)
{
	buf_addstr(&sql->text, condition);
	sql->params[sql->count++].number = number;
}

/* Whether the runs since then are so few that to sort them costs less than to look at all. */
static int are_few(struct audit *audit, int64_t since_ms, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT count(*) FROM (SELECT 1 FROM runs WHERE started_at_ms >= ?1"
			 " LIMIT ?2)",
			 "ii", since_ms, (int64_t)FEW + 1);

	if (!stmt || db_step(audit, stmt, err) < 0)
		return -1;
	return sqlite3_column_int64(stmt, 0) <= FEW;
}

/* By the words: in the order in which the index gives them, the newest first. */
static void add_tables(struct list_sql *sql, const char *match, bool few)
{
	if (!match) {
		buf_addf(&sql->text, "SELECT r.id FROM runs r%s WHERE 1",
			 few ? " INDEXED BY runs_started" : "");
		return;
	}
	/* LIMIT keeps the order within, which is the index's own: nothing is sorted but the runs
	 * that have earlier programs. */
	buf_addstr(&sql->text, "SELECT r.id FROM (SELECT rowid AS no FROM search WHERE 1");
	add_text(sql, "rowid > 0 AND search MATCH ?", match);
	buf_addstr(&sql->text, " UNION SELECT -rowid FROM search WHERE 1");
	add_text(sql, "rowid < 0 AND search MATCH ?", match);
	buf_addstr(&sql->text,
		   " ORDER BY 1 DESC LIMIT -1) s CROSS JOIN runs r ON r.no = s.no WHERE 1");
}

static void add_conditions(struct list_sql *sql, const struct audit_filter *f)
{
	add_text(sql, "r.status = ?", f->status);
	add_text(sql, "r.kind = ?", f->kind);
	add_text(sql, "r.level = ?", f->level);
	add_text(sql, f->model && strpbrk(f->model, "*?[") ? "r.model GLOB ?" : "r.model = ?",
		 f->model);
	add_text(sql, "r.session = ?", f->session);
	add_text(sql, "r.item = ?", f->item);
	add_text(sql, "r.replay_of = ?", f->replay_of);
	add_text(sql, "r.no IN (SELECT run FROM tags WHERE tag = ?)", f->tag);
	if (f->cost_above_micro_usd)
		add_number(sql, " AND r.cost_micro_usd > ?", *f->cost_above_micro_usd);
	if (f->since_ms)
		add_number(sql, " AND r.started_at_ms >= ?", f->since_ms);
	if (f->before_ms)
		add_number(sql, " AND r.started_at_ms < ?", f->before_ms);
}

static void add_order(struct list_sql *sql, const struct audit_filter *f, const char *match,
		      bool few)
{
	if (!match) /* "+": sorted, so that the other index is used to find them */
		buf_addf(&sql->text, " ORDER BY %sr.id DESC", few || f->tag ? "+" : "");
	add_number(sql, " LIMIT ?", f->limit ? f->limit : -1);
}

static sqlite3_stmt *list_query(struct audit *audit, const struct audit_filter *f,
				const char *match, struct error *err)
{
	__attribute__((cleanup(release_sql))) struct list_sql sql = { .text = BUF_INIT(SQL_MAX) };
	int few = f->since_ms && !match ? are_few(audit, f->since_ms, err) : 0;

	if (few < 0)
		return NULL;
	add_tables(&sql, match, few);
	add_conditions(&sql, f);
	add_order(&sql, f, match, few);
	sqlite3_stmt *stmt = db_prepare(audit, sql.text.data, err);
	for (int i = 0; stmt && i < sql.count; i++) {
		if (sql.params[i].text)
			sqlite3_bind_text(stmt, i + 1, sql.params[i].text, -1, SQLITE_STATIC);
		else
			sqlite3_bind_int64(stmt, i + 1, sql.params[i].number);
	}
	return stmt;
}

static int list_each(struct audit *audit, const struct id_list *list,
		     int (*each)(void *self, const struct audit_row *row), void *self,
		     struct error *err)
{
	for (size_t i = 0; i < list->count; i++) {
		struct audit_row row;
		int rc = query_row(audit, list->ids[i], &row, err);

		if (rc < 0)
			return -1;
		if (!rc)
			continue;
		int stop = each(self, &row);
		audit_row_release(&row);
		if (stop)
			break;
	}
	return 0;
}

int audit_programs(struct audit *audit, int64_t limit,
		   int (*each)(void *self, const char *code, size_t len), void *self,
		   struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(
		audit, err,
		"SELECT c.body, c.deflated, c.size FROM runs r JOIN blobs c ON c.no = r.code"
		" WHERE r.replay_of IS NULL ORDER BY r.id DESC LIMIT ?1",
		"i", limit);
	int rc = -1;

	while (stmt && (rc = db_step(audit, stmt, err)) > 0) {
		cleanup_buf struct buf code = BUF_INIT(PROGRAM_MAX);

		if (blob_body(stmt, 0, &code) > 0 && each(self, code.data, code.len))
			return 0;
	}
	return rc;
}

int audit_list(struct audit *audit, const struct audit_filter *filter,
	       int (*each)(void *self, const struct audit_row *row), void *self, struct error *err)
{
	cleanup_free char *match = filter->match ? search_query(filter->match) : NULL;
	struct id_list list = { 0 };

	if (filter->match && !match)
		return 0;
	sqlite3_stmt *stmt = list_query(audit, filter, match, err);
	int rc = stmt ? list_ids(audit, stmt, &list, err) : -1;
	sqlite3_finalize(stmt);
	if (!rc)
		rc = list_each(audit, &list, each, self, err);
	free(list.ids);
	return rc;
}
