/*
 * SQLite as the rest of audit/ uses it: statements, bindings, waiting for others, errors that
 * name the file and a remedy. It knows no table.
 */
#include "audit/db.h"

#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_LIMIT_MS	  10000
#define BUSY_SLEEP_MAX_US 20000
#define STOP_PATIENCE_MS  2000

int db_busy(void *self, int count)
{
	struct audit *audit = self;
	int64_t now = clock_mono_ms();

	if (!count)
		audit->busy_since_ms = now;
	if (now - audit->busy_since_ms > BUSY_LIMIT_MS ||
	    (audit->at_once && stop_now(&audit->stop)))
		return 0;
	/* Random, or writers that wait together wake and collide together. */
	uint32_t ceiling = count < 6 ? 500U << count : BUSY_SLEEP_MAX_US;
	usleep(100 + arc4random_uniform(ceiling));
	return 1;
}

int db_progress(void *self)
{
	const struct audit *audit = self;

	return stop_now(&audit->stop) &&
	       (audit->at_once || clock_mono_ms() - audit->query_since_ms > STOP_PATIENCE_MS);
}

void audit_set_stop(struct audit *audit, const struct stop *stop)
{
	audit->stop = stop ? *stop : (struct stop)STOP_NEVER;
}

/* Ended by db_progress, or by db_busy for the same reason. */
static int stopped(struct audit *audit, const char *doing, struct error *err)
{
	struct error why = ERROR_INIT;
	bool run = !audit->at_once && !sqlite3_get_autocommit(audit->db);

	stop_check(&audit->stop, &why);
	return error_set(err, run ? ERR_LOG : why.kind, "audit log %s: %s: %s", audit->path, doing,
			 why.message);
}

void db_note(struct audit *audit, char *line)
{
	cleanup_free char *before = audit->note, *after = line;

	audit->note = before ? mem_printf("%s\n%s", before, after) : TAKE_PTR(after);
}

void db_close(struct audit *audit)
{
	for (size_t i = 0; i < DB_STATEMENTS_MAX; i++)
		sqlite3_finalize(audit->statements[i].stmt);
	memset(audit->statements, 0, sizeof(audit->statements));
	sqlite3_close_v2(audit->db);
	audit->db = NULL;
}

static const char *remedy(const struct audit *audit)
{
	const int code = audit->code & 0xff;

	if (audit->foreign && (code == SQLITE_CORRUPT || code == SQLITE_NOTADB))
		return DB_MAKE_ANEW;
	switch (code) {
	case SQLITE_FULL:
		return ": free some space, or name another log with --db";
	case SQLITE_IOERR:
		return ": check the disk and its limits, or name another log with --db";
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return ": make the file and its folder writable, or name another log with --db";
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return ": another process has held it for more than 10 s; end that one, or name "
		       "another log with --db";
	case SQLITE_CORRUPT:
		return ": the file is damaged; move it away and save what is left with sqlite3 "
		       "FILE .recover";
	case SQLITE_NOTADB:
		return ": move it away, or name another log with --db";
	default:
		return "";
	}
}

int db_fail(struct audit *audit, const char *doing, struct error *err)
{
	int code = sqlite3_extended_errcode(audit->db);
	int sys = sqlite3_system_errno(audit->db);

	audit->code = code;
	if (code == SQLITE_INTERRUPT || ((code & 0xff) == SQLITE_BUSY && audit->at_once))
		if (stop_now(&audit->stop))
			return stopped(audit, doing, err);
	return error_set_known(err, ERR_LOG, (code & 0xff) == SQLITE_FULL ? ENOSPC : sys,
			       "audit log %s: %s: %s%s%s%s", audit->path, doing,
			       sqlite3_errmsg(audit->db), sys ? ": " : "", sys ? strerror(sys) : "",
			       remedy(audit));
}

static sqlite3_stmt *prepare(struct audit *audit, const char *sql, struct error *err)
{
	size_t i;

	for (i = 0; i < DB_STATEMENTS_MAX && audit->statements[i].sql; i++)
		if (audit->statements[i].sql == sql)
			return audit->statements[i].stmt;
	if (i == DB_STATEMENTS_MAX) {
		error_set(err, ERR_LOG, "audit log %s: too many statements", audit->path);
		return NULL;
	}
	if (sqlite3_prepare_v3(audit->db, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &audit->statements[i].stmt, NULL) != SQLITE_OK) {
		db_fail(audit, "prepare", err);
		return NULL;
	}
	audit->statements[i].sql = sql;
	return audit->statements[i].stmt;
}

static int bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	return text ? sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC) :
		      sqlite3_bind_null(stmt, at);
}

static int bind(sqlite3_stmt *stmt, const char *types, va_list ap)
{
	int rc = SQLITE_OK;

	for (int at = 1; *types && rc == SQLITE_OK; types++, at++) {
		int64_t number;
		const void *bytes;

		switch (*types) {
		case 't':
			rc = bind_text(stmt, at, va_arg(ap, const char *));
			break;
		case 'b':
			bytes = va_arg(ap, const void *);
			rc = sqlite3_bind_blob64(stmt, at, bytes ? bytes : "", va_arg(ap, size_t),
						 SQLITE_STATIC);
			break;
		case 's':
			bytes = va_arg(ap, const void *);
			rc = sqlite3_bind_text64(stmt, at, bytes ? bytes : "", va_arg(ap, size_t),
						 SQLITE_STATIC, SQLITE_UTF8);
			break;
		default:
			number = va_arg(ap, int64_t);
			rc = *types == 'n' && number == -1 ? sqlite3_bind_null(stmt, at) :
							     sqlite3_bind_int64(stmt, at, number);
			break;
		}
	}
	return rc;
}

static sqlite3_stmt *query(struct audit *audit, struct error *err, const char *sql,
			   const char *types, va_list ap)
{
	sqlite3_stmt *stmt = prepare(audit, sql, err);

	if (!stmt)
		return NULL;
	audit->query_since_ms = clock_mono_ms();
	sqlite3_reset(stmt);
	if (bind(stmt, types, ap) != SQLITE_OK) {
		db_fail(audit, "bind", err);
		return NULL;
	}
	return stmt;
}

sqlite3_stmt *db_query(struct audit *audit, struct error *err, const char *sql, const char *types,
		       ...)
{
	va_list ap;

	va_start(ap, types);
	sqlite3_stmt *stmt = query(audit, err, sql, types, ap);
	va_end(ap);
	return stmt;
}

sqlite3_stmt *db_prepare(struct audit *audit, const char *sql, struct error *err)
{
	audit->query_since_ms = clock_mono_ms();
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v2(audit->db, sql, -1, &stmt, NULL) == SQLITE_OK)
		return stmt;
	db_fail(audit, "prepare", err);
	return NULL;
}

int db_step(struct audit *audit, sqlite3_stmt *stmt, struct error *err)
{
	int rc = sqlite3_step(stmt);

	/* Many short queries are as long as one. */
	if (rc == SQLITE_ROW && audit->at_once && stop_now(&audit->stop)) {
		sqlite3_reset(stmt);
		return stopped(audit, "read", err);
	}
	if (rc == SQLITE_ROW)
		return 1;
	if (rc != SQLITE_DONE)
		db_fail(audit, sqlite3_stmt_readonly(stmt) ? "read" : "write", err);
	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return rc == SQLITE_DONE ? 0 : -1;
}

void db_reset(sqlite3_stmt **stmt)
{
	sqlite3_reset(*stmt);
}

int db_run(struct audit *audit, struct error *err, const char *sql, const char *types, ...)
{
	va_list ap;

	va_start(ap, types);
	sqlite3_stmt *stmt = query(audit, err, sql, types, ap);
	va_end(ap);
	if (!stmt)
		return -1;
	int rc;
	while ((rc = db_step(audit, stmt, err)) > 0)
		;
	return rc;
}

void db_ready(struct audit *audit, const char *const *list)
{
	struct error ignored = ERROR_INIT; /* it is told when the statement is needed */

	audit->query_since_ms = clock_mono_ms();
	for (; *list; list++)
		prepare(audit, *list, &ignored);
}

int db_exec(struct audit *audit, const char *sql, const char *doing, struct error *err)
{
	audit->query_since_ms = clock_mono_ms();
	if (sqlite3_exec(audit->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_fail(audit, doing, err);
	return 0;
}

const char *db_column(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? text : "";
}

char *db_text(sqlite3_stmt *stmt, int column)
{
	return mem_strdup((const char *)sqlite3_column_text(stmt, column));
}

char *db_bytes(sqlite3_stmt *stmt, int column, size_t *ret_len)
{
	const void *bytes = sqlite3_column_blob(stmt, column);

	*ret_len = (size_t)sqlite3_column_bytes(stmt, column);
	if (sqlite3_column_type(stmt, column) == SQLITE_NULL)
		return NULL;
	return mem_strndup(bytes, *ret_len);
}

void db_copy_hex(sqlite3_stmt *stmt, int column, char ret[HASH_HEX_LEN + 1])
{
	ret[0] = '\0';
	strncat(ret, db_column(stmt, column), HASH_HEX_LEN);
}

int db_begin(struct audit *audit, struct error *err)
{
	if (audit->read_only)
		return error_set(err, ERR_LOG, "audit log %s: opened for reading only",
				 audit->path);
	if (audit->failed)
		return error_set(err, ERR_LOG,
				 "audit log %s: an earlier write failed; the run "
				 "cannot go on unlogged",
				 audit->path);
	if (!sqlite3_get_autocommit(audit->db))
		return 0;
	return db_run(audit, err, "BEGIN IMMEDIATE", "");
}

int db_snapshot(struct audit *audit, struct error *err)
{
	return sqlite3_get_autocommit(audit->db) ? db_exec(audit, "BEGIN", "read", err) : 0;
}

void db_snapshot_end(struct audit *audit)
{
	if (!sqlite3_get_autocommit(audit->db))
		sqlite3_exec(audit->db, "ROLLBACK", NULL, NULL, NULL);
}

void db_forget_sums(struct audit *audit)
{
	while (audit->sum_count)
		free(audit->sums[--audit->sum_count].key);
}

int db_abort(struct audit *audit)
{
	if (!sqlite3_get_autocommit(audit->db))
		sqlite3_exec(audit->db, "ROLLBACK", NULL, NULL, NULL);
	audit->tip.run[0] = '\0';
	audit->contents = 0;
	audit->contents_changed = false;
	db_forget_sums(audit);
	audit->failed = true;
	return -1;
}
