/*
 * The connection: statements, transactions, and what SQLite's failures mean
 * to a person. Internal to audit/; the only part that talks to SQLite but for
 * audit/open.c and the backup.
 *
 * Rollback journal, not WAL: SQLite before 3.51.3 may corrupt a WAL that
 * several processes write and checkpoint, and Debian 12 has 3.40.1.
 * With journal_mode=PERSIST and synchronous=FULL a commit is durable when
 * audit_commit returns: it syncs the journal's pages, its folder, its header,
 * the log, and the header again, zeroed. The journal is overwritten in place:
 * no block is allocated or freed, which is what makes the syncs of TRUNCATE
 * cost more (ms for a commit of 13 pages, median of 40 in turn: PERSIST 1.28,
 * TRUNCATE 1.53, DELETE with EXTRA 1.74; without any sync 0.11). One sync less
 * with NORMAL (1.07) is not safe here: a journal torn between its old pages
 * and its new ones could pass SQLite's sparse checksum, and be rolled back.
 * PERSIST leaves old pages beside the log; a removal takes theirs away.
 */
#ifndef AUDIT_DB_H
#define AUDIT_DB_H

#include "audit/audit.h"
#include "audit/redact.h"
#include "base/hash.h"

#include <sqlite3.h>

#define DB_STATEMENTS_MAX 64

/* The end of a run's chain as this process left it. */
struct tip {
	char run[ULID_LEN + 1];	/* "" when nothing is known */
	int64_t seq;		/* 0: no event yet */
	char hash[HASH_HEX_LEN + 1];
};

struct audit {
	sqlite3 *db;
	char *path;
	char *app_version;
	char *note;		/* what the caller should be told, or NULL */
	struct redactor *redactor;	/* NULL when read_only */
	bool read_only;
	bool failed;		/* a write failed: nothing more until the next run begins */
	struct tip tip;
	int64_t busy_since_ms;
	struct {
		const char *sql;
		sqlite3_stmt *stmt;
	} statements[DB_STATEMENTS_MAX];
};

/* Waits for other processes' locks, 10 s at most, with jitter. */
int db_busy(void *self, int count);

/* ERR_LOG: "audit log PATH: doing: reason: remedy" from the connection's last error. */
int db_fail(struct audit *audit, const char *doing, struct error *err);

/*
 * A statement with its parameters bound, prepared once per call site (sql must
 * be a literal). types: t text or NULL, i int64_t, n int64_t with -1 for NULL,
 * b bytes and s text (pointer, size_t). Parameters must live until the statement is done.
 * NULL on failure.
 */
sqlite3_stmt *db_query(struct audit *audit, struct error *err, const char *sql,
		       const char *types, ...);
/* 1: a row; 0: done; -1: failed. After 0 and -1 the statement is reset. */
int db_step(struct audit *audit, sqlite3_stmt *stmt, struct error *err);
/* Ends a statement before its last row. */
void db_reset(sqlite3_stmt **stmt);
#define cleanup_stmt __attribute__((cleanup(db_reset)))

/* Binds as db_query and runs to the end. */
int db_run(struct audit *audit, struct error *err, const char *sql, const char *types, ...);
int db_exec(struct audit *audit, const char *sql, const char *doing, struct error *err);

/* A column as text, "" for NULL: what a tampered file holds must not crash us. */
const char *db_column(sqlite3_stmt *stmt, int column);
/* A column as an owned string; NULL for NULL. */
char *db_text(sqlite3_stmt *stmt, int column);
/* As db_text, with the byte count, for BLOB columns. */
char *db_bytes(sqlite3_stmt *stmt, int column, size_t *ret_len);
void db_copy_hex(sqlite3_stmt *stmt, int column, char ret[HASH_HEX_LEN + 1]);

/* Starts the transaction that audit_commit ends, unless one is open. */
int db_begin(struct audit *audit, struct error *err);
/* Rolls back and refuses what follows; returns -1. */
int db_abort(struct audit *audit);

#endif
