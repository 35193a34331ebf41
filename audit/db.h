/*
 * The connection: statements, transactions, and what SQLite's failures mean
 * to a person. Internal to audit/; the only part that talks to SQLite but for
 * audit/open.c, audit/journal.c and the backup.
 */
#ifndef AUDIT_DB_H
#define AUDIT_DB_H

#include "audit/audit.h"
#include "audit/redact/redact.h"
#include "base/hash.h"

#include <sqlite3.h>

#define DB_STATEMENTS_MAX 128

/* The end of a run's chain as this process left it. */
struct tip {
	char run[ULID_LEN + 1]; /* "" when nothing is known */
	int64_t no;		/* the run's */
	int64_t seq;		/* 0: no event yet */
	char hash[HASH_HEX_LEN + 1];
};

/* Long bytes without a secret (audit/blob.h). */
struct db_known {
	char *bytes;
	size_t len;
	char sha256[HASH_HEX_LEN + 1];
};
#define DB_KNOWN_MAX 4

/* What is to be added to a counter (audit/counts.h). */
struct db_sum {
	char *key;
	int64_t by;
};
#define DB_SUMS_MAX 48

struct audit {
	sqlite3 *db;
	char *path;
	char *app_version;
	char *note;		   /* what the caller should be told, or NULL */
	struct redactor *redactor; /* NULL when read_only */
	bool read_only, foreign, brief;
	char journal[12];	   /* the mode, "" when not yet known; journal_name */
	char *journal_why;	   /* why no write-ahead log, or NULL */
	int code;		   /* SQLite's, of the last failure */
	int wal_pages;		   /* in the write-ahead log after the last commit */
	bool defers;		   /* commits are synced by audit/durable.h, not by SQLite */
	bool unsynced;		   /* something was committed since the last sync */
	int wal_fd;		   /* the write-ahead log, to sync it; -1: not yet opened */
	struct audit_group *group; /* borrowed, or NULL */
	uint64_t place;		   /* the last commit's in it */
	uint64_t contents;	   /* what is to be added to the sum of audit/contents.h */
	bool contents_changed;
	struct db_sum sums[DB_SUMS_MAX]; /* of the transaction that is open */
	size_t sum_count;
	bool failed;		/* a write failed: nothing more until the next run begins */
	struct stop stop;	/* when queries must end */
	bool at_once;		/* and not after a while */
	int64_t query_since_ms; /* when the query under way began */
	struct tip tip;
	struct db_known known[DB_KNOWN_MAX];
	size_t known_next; /* to make room */
	int64_t busy_since_ms;
	struct {
		const char *sql;
		sqlite3_stmt *stmt;
	} statements[DB_STATEMENTS_MAX];
};

/* Waits for other processes' locks, 10 s at most, with jitter. */
int db_busy(void *self, int count);
/* How long a change of the kind of journal waits for them. */
#define DB_SWITCH_MS 1000
/* Whether the query under way must end: sqlite3_progress_handler's. */
int db_progress(void *self);
#define DB_PROGRESS_STEPS 10000

/* Adds a line that the user should see (audit_note), and takes it. */
void db_note(struct audit *audit, char *line);
/* Ends all statements and the connection. */
void db_close(struct audit *audit);

/* What helps when a file from elsewhere is damaged or was cut off on its way. */
#define DB_MAKE_ANEW                                                                            \
	"; make it anew where its runs are (assay log export --bundle), or copy it from there " \
	"again"

/* ERR_LOG: "audit log PATH: doing: reason: remedy" from the connection's last error. */
int db_fail(struct audit *audit, const char *doing, struct error *err);

/*
 * A statement with its parameters bound, prepared once per call site (sql must
 * be a literal). types: t text or NULL, i int64_t, n int64_t with -1 for NULL,
 * b bytes and s text (pointer, size_t). Parameters must live until the statement is done.
 * NULL on failure.
 */
sqlite3_stmt *db_query(struct audit *audit, struct error *err, const char *sql, const char *types,
		       ...);
/* One that is made of parts, bound and finalized by the caller; NULL on failure. */
sqlite3_stmt *db_prepare(struct audit *audit, const char *sql, struct error *err);
/* 1: a row; 0: done; -1: failed. After 0 and -1 the statement is reset. */
int db_step(struct audit *audit, sqlite3_stmt *stmt, struct error *err);
/* Ends a statement before its last row. */
void db_reset(sqlite3_stmt **stmt);
#define cleanup_stmt __attribute__((cleanup(db_reset)))

/* Binds as db_query and runs to the end. */
int db_run(struct audit *audit, struct error *err, const char *sql, const char *types, ...);
int db_exec(struct audit *audit, const char *sql, const char *doing, struct error *err);
/* Prepares statements of db_query and db_run (a list that NULL ends, of the very pointers) before
 * they are needed. */
void db_ready(struct audit *audit, const char *const *list);

/* A column as text, "" for NULL: what a tampered file holds must not crash us. */
const char *db_column(sqlite3_stmt *stmt, int column);
/* A column as an owned string; NULL for NULL. */
char *db_text(sqlite3_stmt *stmt, int column);
/* As db_text, with the byte count, for BLOB columns. */
char *db_bytes(sqlite3_stmt *stmt, int column, size_t *ret_len);
void db_copy_hex(sqlite3_stmt *stmt, int column, char ret[HASH_HEX_LEN + 1]);

/* Starts the transaction that audit_commit ends, unless one is open. */
int db_begin(struct audit *audit, struct error *err);
/* What is read between the two fits together, whoever writes meanwhile. */
int db_snapshot(struct audit *audit, struct error *err);
void db_snapshot_end(struct audit *audit);
void db_forget_sums(struct audit *audit);
/* Rolls back and refuses what follows; returns -1. */
int db_abort(struct audit *audit);

#endif
