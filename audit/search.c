/*
 * The words of runs. It holds no text: what was indexed is read from the blobs
 * again, to take it out or to make the index anew.
 */
#include "audit/search.h"

#include "audit/blob.h"
#include "audit/event.h"
#include "audit/journal.h"
#include "audit/member.h"
#include "base/embed.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

/* A megabyte of output would cost more to index than to run. */
#define INDEX_MAX ((size_t)64 << 10)
/* Of the index, merged in one transaction. */
#define MERGE_PAGES 2000
/* Runs, in one transaction: who writes waits for one at most. */
#define INDEXED_AT_ONCE 200

size_t search_indexed(const char *text, size_t len)
{
	if (len <= INDEX_MAX)
		return len;
	/* Not in the middle of a character. */
	for (len = INDEX_MAX; len && ((unsigned char)text[len] & 0xC0) == 0x80; len--)
		;
	return len;
}

/* As they are stored: texts are never deflated (blob.c). */
#define TEXTS                                                                          \
	"SELECT CAST(p.body AS TEXT), CAST(c.body AS TEXT), CAST(o.body AS TEXT),"     \
	" CAST(a.body AS TEXT), r.no FROM runs r LEFT JOIN blobs p ON p.no = r.prompt" \
	" LEFT JOIN blobs c ON c.no = r.code LEFT JOIN blobs o ON o.no = r.output"     \
	" LEFT JOIN blobs a ON a.no = r.answer WHERE r.ended_at_ms IS NOT NULL AND "

static const char texts_of_run[] = TEXTS "r.no = ?1";
static const char programs_of_run[] =
	EVENT_COLUMNS " WHERE e.place > ?1 AND e.place < ?2 AND f.stage = 'execute'"
		      " AND f.phase = 'started' ORDER BY e.place";
static const char program[] = "SELECT b.no, b.body, b.deflated, b.size FROM blobs b"
			      " WHERE " BLOB_IS("b", "?1") " AND b.no IS NOT"
							   " (SELECT code FROM runs WHERE no = ?2)";
static const char add_texts[] = "INSERT INTO search(rowid, prompt, code, output, answer)"
				" VALUES(?1, ?2, ?3, ?4, ?5)";
static const char begin_words[] = "SAVEPOINT words";
static const char write_words[] = "SAVEPOINT written";
static const char end_words[] = "RELEASE words";

void search_ready(struct audit *audit)
{
	static const char *const list[] = { texts_of_run, programs_of_run, program,   add_texts,
					    begin_words,  write_words,	   end_words, NULL };

	db_ready(audit, list);
}

sqlite3_stmt *search_texts(struct audit *audit, const char *run, struct error *err)
{
	return db_query(audit, err, TEXTS "r.id = ?1", "t", run);
}

sqlite3_stmt *search_texts_of(struct audit *audit, int64_t run, struct error *err)
{
	return db_query(audit, err, texts_of_run, "i", run);
}

/* sql: what is done with a run's texts. */
static int with_texts(struct audit *audit, const char *sql, int64_t run, struct error *err)
{
	cleanup_stmt sqlite3_stmt *texts = search_texts_of(audit, run, err);

	if (!texts || db_step(audit, texts, err) < 0)
		return -1;
	const char *text[SEARCH_ANSWER + 1];
	size_t len[SEARCH_ANSWER + 1];
	for (int i = 0; i <= SEARCH_ANSWER; i++) {
		text[i] = db_column(texts, i);
		len[i] = search_indexed(text[i], (size_t)sqlite3_column_bytes(texts, i));
	}
	return db_run(audit, err, sql, "issss", run, text[SEARCH_PROMPT], len[SEARCH_PROMPT],
		      text[SEARCH_CODE], len[SEARCH_CODE], text[SEARCH_OUTPUT], len[SEARCH_OUTPUT],
		      text[SEARCH_ANSWER], len[SEARCH_ANSWER]);
}

/* The blob, unless it is one of `seen` ("1,2,"), which it is added to. */
static int add_earlier(struct audit *audit, int64_t run, const char *sha256, struct buf *seen,
		       struct buf *text, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, program, "ti", sha256, run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc <= 0)
		return rc;
	cleanup_free char *no = mem_printf(",%lld,", (long long)sqlite3_column_int64(stmt, 0));
	if (strstr(seen->data, no))
		return 0;
	buf_addstr(seen, no);
	if (text->len)
		buf_addch(text, '\n');
	blob_body(stmt, 1, text); /* nothing of what is damaged */
	return 0;
}

/* What a `started` record says was run. */
static int add_program(struct audit *audit, int64_t run, const char *data, struct buf *seen,
		       struct buf *text, struct error *err)
{
	char sha256[HASH_HEX_LEN + 1];
	struct member m;
	int64_t size;

	while (member_next(&data, &m))
		if (m.key_len == 4 && !memcmp(m.key, "code", 4) &&
		    member_reference(m.value, m.end, sha256, &size))
			return add_earlier(audit, run, sha256, seen, text, err);
	return 0;
}

int search_earlier(struct audit *audit, int64_t run, struct buf *text, struct error *err)
{
	cleanup_buf struct buf data = BUF_INIT(SIZE_MAX / 2), seen = BUF_INIT(SIZE_MAX / 2);
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, programs_of_run, "ii",
						   EVENT_PLACE(run, 0), EVENT_PLACE(run + 1, 0));
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		struct chain_event event;

		if (event_of_row(audit, stmt, "", &data, &event, err) < 0 ||
		    add_program(audit, run, data.data, &seen, text, err) < 0)
			rc = -1;
	}
	return rc;
}

/* sql: what is done with the earlier programs, where there are any. */
static int with_earlier(struct audit *audit, const char *sql, int64_t run, struct error *err)
{
	cleanup_buf struct buf text = BUF_INIT(SIZE_MAX / 2);

	if (search_earlier(audit, run, &text, err) < 0)
		return -1;
	if (!text.len)
		return 0;
	return db_run(audit, err, sql, "is", -run, text.data, search_indexed(text.data, text.len));
}

static int insert(struct audit *audit, int64_t run, struct error *err)
{
	if (with_texts(audit, add_texts, run, err) < 0)
		return -1;
	return with_earlier(audit,
			    "INSERT INTO search(rowid, prompt, code, output, answer)"
			    " VALUES(?1, '', ?2, '', '')",
			    run, err);
}

/* A page that is none, settings that are none of FTS5's, a row where a new one is to be. */
bool search_is_damaged(const struct audit *audit)
{
	return audit->code == SQLITE_CORRUPT_VTAB || audit->code == SQLITE_ERROR ||
	       (audit->code & 0xff) == SQLITE_CONSTRAINT;
}

/* act fails when the index is damaged: then what it did is undone, and a note is left. What FTS5
 * keeps to be written later is written at the beginning of a savepoint, where that can still be
 * undone. */
static int or_note(struct audit *audit, int (*act)(struct audit *, int64_t, struct error *),
		   int64_t run, struct error *err)
{
	if (db_run(audit, err, begin_words, "") < 0)
		return -1;
	if (act(audit, run, err) < 0 || db_run(audit, err, write_words, "") < 0) {
		if (!search_is_damaged(audit) || db_run(audit, err, "ROLLBACK TO words", "") < 0)
			return -1;
		error_clear(err);
		db_note(audit,
			mem_strdup("the log's full-text index is damaged, so that this run is "
				   "not in it; assay log reindex makes it anew"));
	}
	return db_run(audit, err, end_words, "");
}

int search_add(struct audit *audit, int64_t run, struct error *err)
{
	return or_note(audit, insert, run, err);
}

static int is_indexed(struct audit *audit, int64_t run, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT 1 FROM search_docsize WHERE id = ?1", "i", run);

	return stmt ? db_step(audit, stmt, err) : -1;
}

/* A run of before earlier programs were indexed has none in the index. */
static int delete_earlier(struct audit *audit, int64_t run, struct error *err)
{
	int rc = is_indexed(audit, -run, err);

	if (rc <= 0)
		return rc;
	return with_earlier(audit,
			    "INSERT INTO search(search, rowid, prompt, code, output, answer)"
			    " VALUES('delete', ?1, '', ?2, '', '')",
			    run, err);
}

static int delete (struct audit *audit, int64_t run, struct error *err)
{
	int rc = delete_earlier(audit, run, err) < 0 ? -1 : is_indexed(audit, run, err);

	if (rc <= 0)
		return rc;
	return with_texts(audit,
			  "INSERT INTO search(search, rowid, prompt, code, output, answer)"
			  " VALUES('delete', ?1, ?2, ?3, ?4, ?5)",
			  run, err);
}

int search_remove(struct audit *audit, int64_t run, struct error *err)
{
	return or_note(audit, delete, run, err);
}

int search_scrub(struct audit *audit, struct error *err)
{
	int before = sqlite3_total_changes(audit->db);

	/* FTS5: nothing is left to merge when fewer than two rows changed. */
	if (db_run(audit, err, "INSERT INTO search(search, rank) VALUES('merge', ?1)", "i",
		   (int64_t)-MERGE_PAGES) < 0)
		return search_is_damaged(audit) ? (error_clear(err), 0) : -1;
	return sqlite3_total_changes(audit->db) - before >= 2;
}

/* In the index's own tables, which SQLite lets nobody write else. */
static int write_tables(struct audit *audit, const char *sql, struct error *err)
{
	sqlite3_db_config(audit->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
	int rc = db_exec(audit, sql, "empty the full-text index", err);
	sqlite3_db_config(audit->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return rc;
}

/* An index of nothing (fts5.html, "FTS5 Data Structures"): as FTS5 makes it, and without opening
 * one that is too damaged to be opened. */
static int clear(struct audit *audit, struct error *err)
{
	return write_tables(
		audit,
		"CREATE TABLE IF NOT EXISTS search_data(id INTEGER PRIMARY KEY, block BLOB);"
		"CREATE TABLE IF NOT EXISTS search_idx(segid, term, pgno,"
		" PRIMARY KEY(segid, term)) WITHOUT ROWID;"
		"CREATE TABLE IF NOT EXISTS search_docsize(id INTEGER PRIMARY KEY, sz BLOB);"
		"CREATE TABLE IF NOT EXISTS search_config(k PRIMARY KEY, v) WITHOUT ROWID;"
		"DELETE FROM search_data; DELETE FROM search_idx; DELETE FROM search_docsize;"
		"DELETE FROM search_config; INSERT INTO search_config VALUES('version', 4);"
		"INSERT INTO search_data VALUES(1, x''), (10, x'00000000000000')",
		err);
}

#define IS_THERE                                                                          \
	"SELECT count(*), total(name = 'search') FROM sqlite_schema WHERE type = 'table'" \
	" AND name IN ('search', 'search_data', 'search_idx', 'search_docsize', 'search_config')"
#define TABLES 5

/* As schema.sql makes it, where what is left of one may be in the way. */
static int make_anew(struct audit *audit, struct error *err)
{
	const struct embed *schema = embed_find("audit/schema.sql");
	const char *at = schema ? strstr(schema->data, "CREATE VIRTUAL TABLE search ") : NULL;
	cleanup_free char *sql = at ? mem_strndup(at, strcspn(at, ";")) : NULL;

	if (!sql)
		return error_set(err, ERR_LOG, "audit/schema.sql is not there");
	if (write_tables(audit,
			 "DROP TABLE IF EXISTS search_data; DROP TABLE IF EXISTS search_idx;"
			 "DROP TABLE IF EXISTS search_docsize; DROP TABLE IF EXISTS search_config",
			 err) < 0)
		return -1;
	return db_exec(audit, sql, "make the full-text index", err);
}

/* 1: all of its tables are there; 0: not all, and whether that is which FTS5 opens; -1. */
static int is_whole(struct audit *audit, bool *ret_opens, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, IS_THERE, "");

	if (!stmt || db_step(audit, stmt, err) <= 0)
		return -1;
	*ret_opens = sqlite3_column_int(stmt, 1);
	return sqlite3_column_int(stmt, 0) == TABLES;
}

/* Under the write lock: another process may have been first. */
static int mend(struct audit *audit, struct error *err)
{
	bool opens;
	int rc = is_whole(audit, &opens, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	db_note(audit,
		mem_strdup("the log's full-text index was not whole, and is empty now; assay "
			   "log reindex fills it"));
	return (opens ? clear : make_anew)(audit, err);
}

int search_mend(struct audit *audit, struct error *err)
{
	bool opens;
	int rc = is_whole(audit, &opens, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (db_begin(audit, err) < 0)
		return -1;
	return mend(audit, err) < 0 || audit_commit(audit, err) < 0 ? db_abort(audit) : 0;
}

/* The next run after *run that has ended, into it: 1; 0: there is none. */
static int next_ended(struct audit *audit, int64_t *run, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT no FROM runs WHERE no > ?1 AND ended_at_ms IS NOT NULL"
			 " ORDER BY no LIMIT 1",
			 "i", *run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc > 0)
		*run = sqlite3_column_int64(stmt, 0);
	return rc;
}

/* Some runs after *run, and those only that have not been indexed meanwhile, as they ended: 1, and
 * *run is the last of them; 0: there is none. */
static int index_some(struct audit *audit, int64_t *run, struct error *err)
{
	int rc = 1;

	for (int i = 0; rc > 0 && i < INDEXED_AT_ONCE; i++) {
		rc = next_ended(audit, run, err);
		if (rc <= 0)
			break;
		int there = is_indexed(audit, *run, err);
		if (there < 0 || (!there && insert(audit, *run, err) < 0))
			rc = -1;
	}
	return rc;
}

int audit_reindex(struct audit *audit, struct error *err)
{
	if (audit_commit(audit, err) < 0 || db_begin(audit, err) < 0 || clear(audit, err) < 0)
		return db_abort(audit);
	audit->at_once = true; /* nothing of a run is lost by that */
	int64_t run = 0;
	int rc = 1;
	while (rc > 0) {
		rc = db_begin(audit, err) < 0 ? -1 : index_some(audit, &run, err);
		if (rc < 0 || audit_commit(audit, err) < 0)
			rc = db_abort(audit);
		journal_settle(audit);
	}
	audit->at_once = false;
	return rc;
}

/* FTS5 finds tokens only: punctuation alone would be a phrase of nothing. */
static bool has_token(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (isalnum((unsigned char)word[i]) || (unsigned char)word[i] >= 0x80)
			return true;
	return false;
}

static void add_word(struct buf *out, const char *word, size_t len, bool phrase)
{
	bool prefix = !phrase && len > 1 && word[len - 1] == '*';

	if (!has_token(word, len))
		return;
	buf_addstr(out, out->len ? " \"" : "\"");
	for (size_t i = 0; i < len; i++)
		buf_addch(out, word[i] == '"' ? ' ' : word[i]);
	buf_addstr(out, prefix ? "\"*" : "\"");
}

char *search_query(const char *typed)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_MAX_DEFAULT);
	const char *p = typed;

	while (*p) {
		const char *close = *p == '"' ? strchr(p + 1, '"') : NULL;
		size_t len = strcspn(p, " \t\r\n");

		if (close) {
			add_word(&out, p + 1, (size_t)(close - p - 1), true);
			p = close + 1;
		} else if (len) {
			add_word(&out, p, len, false);
			p += len;
		} else {
			p++;
		}
	}
	return out.len ? buf_take(&out, NULL) : NULL;
}
