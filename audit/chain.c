#include "audit/chain.h"

#include <stdio.h>
#include <string.h>

static void add_field(struct hash *h, const char *text, size_t len)
{
	char prefix[24];

	if (!text) {
		hash_add(h, "-,", 2);
		return;
	}
	hash_add(h, prefix, (size_t)snprintf(prefix, sizeof(prefix), "%zu:", len));
	hash_add(h, text, len);
	hash_add(h, ",", 1);
}

static void add_text(struct hash *h, const char *text)
{
	add_field(h, text, text ? strlen(text) : 0);
}

static void add_number(struct hash *h, int64_t number)
{
	char text[24];

	add_field(h, text, (size_t)snprintf(text, sizeof(text), "%lld", (long long)number));
}

void chain_row(sqlite3_stmt *stmt, int columns, const char *prev, char ret[HASH_HEX_LEN + 1])
{
	struct hash *h = hash_start();

	add_text(h, prev);
	for (int i = 0; i < columns; i++) {
		const char *text = (const char *)sqlite3_column_text(stmt, i);

		add_field(h, text, (size_t)sqlite3_column_bytes(stmt, i));
	}
	hash_finish(h, ret);
}

int chain_run(struct audit *audit, const char *sql, const char *run, char ret[HASH_HEX_LEN + 1],
	      struct error *err)
{
	sqlite3_stmt *stmt = db_query(audit, err, sql, "t", run);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return error_set(err, ERR_LOG, "audit log %s: no run %s", audit->path, run);
	chain_row(stmt, sqlite3_column_count(stmt), "", ret);
	sqlite3_reset(stmt);
	return 0;
}

void chain_event(const struct chain_event *event, const char *prev, char ret[HASH_HEX_LEN + 1])
{
	struct hash *h = hash_start();

	add_text(h, prev);
	add_text(h, event->run);
	add_number(h, event->seq);
	add_number(h, event->at_ms);
	add_text(h, event->stage);
	add_number(h, event->attempt);
	add_text(h, event->phase);
	add_text(h, event->data);
	hash_finish(h, ret);
}
