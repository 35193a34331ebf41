/*
 * What is hashed, and in which form. It decides nothing about what a hash that
 * does not fit means.
 */
#include "audit/chain.h"

#include <stdio.h>
#include <string.h>

static void add_field(struct hash *h, const char *text, size_t len)
{
	if (!text) {
		hash_add(h, "-,", 2);
		return;
	}
	char prefix[24];
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

int chain_run(struct audit *audit, const char *sql, int64_t run, const char *last,
	      char ret[HASH_HEX_LEN + 1], struct error *err)
{
	sqlite3_stmt *stmt = db_query(audit, err, sql, "it", run, last);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc < 0)
		return -1;
	if (!rc)
		return error_set(err, ERR_LOG, "audit log %s: no run %lld", audit->path,
				 (long long)run);
	chain_row(stmt, sqlite3_column_count(stmt), "", ret);
	sqlite3_reset(stmt);
	return 0;
}

int chain_rows(struct audit *audit, sqlite3_stmt *stmt, char link[HASH_HEX_LEN + 1],
	       struct error *err)
{
	int rc = stmt ? 1 : -1;

	while (rc > 0 && (rc = db_step(audit, stmt, err)) > 0) {
		char prev[HASH_HEX_LEN + 1];

		memcpy(prev, link, sizeof(prev));
		chain_row(stmt, sqlite3_column_count(stmt), prev, link);
	}
	return rc;
}

static const char seal_and_texts[] =
	"SELECT r.seal, c.sha256, o.sha256 FROM runs r"
	" LEFT JOIN blobs c ON c.no = r.code LEFT JOIN blobs o ON o.no = r.output"
	" WHERE r.no = ?1";
static const char tags_of_run[] = "SELECT tag FROM tags WHERE run = ?1 ORDER BY tag";
static const char blobs_of_run[] = "SELECT b.sha256, b.size, b.media_type, b.redactions FROM refs f"
				   " LEFT JOIN blobs b ON b.no = f.blob WHERE f.run = ?1"
				   " ORDER BY b.sha256";

void chain_ready(struct audit *audit)
{
	static const char *const list[] = { seal_and_texts, tags_of_run, blobs_of_run, NULL };

	db_ready(audit, list);
}

int chain_cover(struct audit *audit, int64_t run, char ret[HASH_HEX_LEN + 1], struct error *err)
{
	ret[0] = '\0';
	if (chain_rows(audit, db_query(audit, err, seal_and_texts, "i", run), ret, err) < 0 ||
	    chain_rows(audit, db_query(audit, err, tags_of_run, "i", run), ret, err) < 0)
		return -1;
	return chain_rows(audit, db_query(audit, err, blobs_of_run, "i", run), ret, err);
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

void chain_entry(const struct chain_entry *entry, const char *prev, char ret[HASH_HEX_LEN + 1])
{
	struct hash *h = hash_start();

	add_text(h, prev);
	add_number(h, entry->place);
	add_number(h, entry->at_ms);
	add_text(h, entry->act);
	add_number(h, entry->run);
	add_text(h, entry->id);
	add_text(h, entry->why);
	add_text(h, entry->cover);
	hash_finish(h, ret);
}

static int nibble(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t chain_bytes(const char *hex, unsigned char ret[HASH_HEX_LEN / 2])
{
	size_t n;

	for (n = 0; n < HASH_HEX_LEN / 2 && nibble(hex[0]) >= 0 && nibble(hex[1]) >= 0;
	     n++, hex += 2)
		ret[n] = (unsigned char)(nibble(hex[0]) << 4 | nibble(hex[1]));
	return n;
}

void chain_hex(sqlite3_stmt *stmt, int column, char ret[HASH_HEX_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *bytes = sqlite3_column_blob(stmt, column);
	size_t len = (size_t)sqlite3_column_bytes(stmt, column), n;

	for (n = 0; len == HASH_HEX_LEN / 2 && n < len; n++) {
		ret[2 * n] = digits[bytes[n] >> 4];
		ret[2 * n + 1] = digits[bytes[n] & 15];
	}
	ret[2 * n] = '\0';
}
