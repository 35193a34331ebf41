/*
 * The chain that makes changes evident: each link is SHA-256 over the link
 * before and this record's fields, each with its length before it ("5:hello,"
 * and "-," for NULL), so that no two records read the same.
 */
#ifndef AUDIT_CHAIN_H
#define AUDIT_CHAIN_H

#include "audit/db.h"

/* What runs and events are hashed by: every column but the hashes themselves. */
#define CHAIN_OPENING_SQL                                                                  \
	"SELECT id, kind, session, item, replay_of, tier, started_at_ms, provider, model," \
	" prompt_sha256, config_sha256, app_version FROM runs WHERE id = ?1"
#define CHAIN_SEAL_SQL                                                                      \
	"SELECT last_hash, event_count, ended_at_ms, status, level, reason, exit_code,"     \
	" attempts, input_tokens, output_tokens, cost_micro_usd, answer_sha256 FROM runs"   \
	" WHERE id = ?1"

/* The link after prev over the first `columns` columns of stmt's row. */
void chain_row(sqlite3_stmt *stmt, int columns, const char *prev, char ret[HASH_HEX_LEN + 1]);

/* The link over the only row of sql (one of the above) for run; ERR_LOG without one. */
int chain_run(struct audit *audit, const char *sql, const char *run, char ret[HASH_HEX_LEN + 1],
	      struct error *err);

struct chain_event {
	const char *run;
	int64_t seq, at_ms;
	const char *stage;
	int64_t attempt;
	const char *phase, *data;
};
/* As chain_row over run_id, seq, at_ms, stage, attempt, phase, data_json. */
void chain_event(const struct chain_event *event, const char *prev, char ret[HASH_HEX_LEN + 1]);

#endif
