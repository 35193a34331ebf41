/*
 * Where a run's texts have the words of a search: FTS5's own snippet, of a table in memory that
 * holds the texts of this one run. So the log's index need not keep the text, a reader writes
 * nothing, and what the words are is told by the same tokenizer.
 */
#include "audit/audit.h"

#include "audit/search.h"
#include "base/mem.h"

static void close_db(sqlite3 **db)
{
	sqlite3_close_v2(*db);
}

static void finalize(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
}

/* The run's texts, and its earlier programs as a second row, which comes after. */
static int fill(sqlite3 *memory, sqlite3_stmt *texts, const struct buf *earlier)
{
	static const char table[] =
		"CREATE VIRTUAL TABLE s USING fts5(prompt, code, output, answer,"
		" tokenize = \"unicode61 remove_diacritics 2\")";
	__attribute__((cleanup(finalize))) sqlite3_stmt *insert = NULL;

	if (sqlite3_exec(memory, table, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(memory, "INSERT INTO s VALUES(?1, ?2, ?3, ?4)", -1, &insert, NULL) !=
		    SQLITE_OK)
		return -1;
	for (int i = 0; i < SEARCH_NO; i++)
		sqlite3_bind_value(insert, i + 1, sqlite3_column_value(texts, i));
	if (sqlite3_step(insert) != SQLITE_DONE)
		return -1;
	sqlite3_reset(insert);
	sqlite3_clear_bindings(insert);
	sqlite3_bind_text64(insert, SEARCH_CODE + 1, earlier->data, earlier->len, SQLITE_STATIC,
			    SQLITE_UTF8);
	return sqlite3_step(insert) == SQLITE_DONE ? 0 : -1;
}

static int cut(sqlite3 *memory, const char *query, const char *mark, struct buf *out)
{
	static const char sql[] =
		"SELECT snippet(s, -1, ?2, ?2, '...', 16) FROM s WHERE s MATCH ?1 ORDER BY rowid";
	__attribute__((cleanup(finalize))) sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(memory, sql, -1, &stmt, NULL) != SQLITE_OK)
		return -1;
	sqlite3_bind_text(stmt, 1, query, -1, SQLITE_STATIC);
	sqlite3_bind_text(stmt, 2, mark, -1, SQLITE_STATIC);
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		buf_add(out, db_column(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0));
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

int audit_snippet(struct audit *audit, const char *run, const char *match, const char *mark,
		  struct buf *out, struct error *err)
{
	__attribute__((cleanup(close_db))) sqlite3 *memory = NULL;
	cleanup_free char *query = search_query(match);
	cleanup_buf struct buf earlier = BUF_INIT(SIZE_MAX / 2);

	if (!query)
		return 0;
	cleanup_stmt sqlite3_stmt *texts = search_texts(audit, run, err);
	int rc = texts ? db_step(audit, texts, err) : -1;
	if (rc <= 0)
		return rc;
	if (search_earlier(audit, sqlite3_column_int64(texts, SEARCH_NO), &earlier, err) < 0)
		return -1;
	if (sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
			    NULL) != SQLITE_OK ||
	    fill(memory, texts, &earlier) < 0 || cut(memory, query, mark, out) < 0)
		return error_set(err, ERR_LOG, "audit log %s: search run %s: %s", audit->path, run,
				 sqlite3_errmsg(memory));
	return 0;
}
