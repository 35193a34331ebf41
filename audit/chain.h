/*
 * The chains that make changes evident. Each link is SHA-256 over the link
 * before and a record's fields, each with its length before it ("5:hello,"
 * and "-," for NULL), so that no two records read the same. They are over what
 * was written, by ids and hashes: how it lies in the file may change.
 *
 * A run has a chain of its events, which begins with its opening fields and
 * ends with its seal. The log has one of what became of its runs (ledger.h),
 * whose links cover each run's seal, tags and blobs.
 */
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include "audit/db.h"

/* What a run is hashed by at its beginning and at its end; ?1 is its no, ?2 its last link. */
#define CHAIN_OPENING_SQL                                                               \
	"SELECT r.id, r.kind, r.session, r.item, r.replay_of, r.tier, r.started_at_ms," \
	" r.provider, r.model, p.sha256, c.sha256, r.app_version FROM runs r"           \
	" LEFT JOIN blobs p ON p.no = r.prompt LEFT JOIN blobs c ON c.no = r.config"    \
	" WHERE r.no = ?1 AND ?2 IS NULL"
#define CHAIN_SEAL_SQL                                                                         \
	"SELECT ?2, r.event_count, r.ended_at_ms, r.status, r.level, r.reason, r.exit_code,"   \
	" r.attempts, r.input_tokens, r.output_tokens, r.cost_micro_usd, a.sha256 FROM runs r" \
	" LEFT JOIN blobs a ON a.no = r.answer WHERE r.no = ?1"

/* The link after prev over the first `columns` columns of stmt's row. */
void chain_row(sqlite3_stmt *stmt, int columns, const char *prev, char ret[HASH_HEX_LEN + 1]);

/* Every row of stmt (NULL: it failed) as a link of its own; *link goes on. */
int chain_rows(struct audit *audit, sqlite3_stmt *stmt, char link[HASH_HEX_LEN + 1],
	       struct error *err);

/* The link over the only row of sql (one of the above) for run; ERR_LOG without one. */
int chain_run(struct audit *audit, const char *sql, int64_t run, const char *last,
	      char ret[HASH_HEX_LEN + 1], struct error *err);

/* As db_ready. */
void chain_ready(struct audit *audit);
/* Over all that an ended run says: its seal, its tags, and what its blobs are. */
int chain_cover(struct audit *audit, int64_t run, char ret[HASH_HEX_LEN + 1], struct error *err);

struct chain_event {
	const char *run; /* its id */
	int64_t seq, at_ms;
	const char *stage;
	int64_t attempt;
	const char *phase, *data;
};
void chain_event(const struct chain_event *event, const char *prev, char ret[HASH_HEX_LEN + 1]);

/* A row of the ledger: over its fields. */
struct chain_entry {
	int64_t place, at_ms;
	const char *act;
	int64_t run; /* 0: none */
	const char *id, *why, *cover;
};
void chain_entry(const struct chain_entry *entry, const char *prev, char ret[HASH_HEX_LEN + 1]);

/* As the file has them, 32 bytes (fewer of what is no hash), and back: "" of any other number. */
size_t chain_bytes(const char *hex, unsigned char ret[HASH_HEX_LEN / 2]);
void chain_hex(sqlite3_stmt *stmt, int column, char ret[HASH_HEX_LEN + 1]);

#endif
