/*
 * Appends to the log's own chain, of which runs ended and which were removed. It never changes a
 * row that is there.
 */
#include "audit/ledger.h"

#include "audit/chain.h"
#include "base/clock.h"

#include <string.h>

static const char last_row[] = "SELECT place, link FROM ledger ORDER BY place DESC LIMIT 1";
static const char add_row[] =
	"INSERT INTO ledger VALUES(?1, ?2, ?3, nullif(?4, 0), ?5, ?6, ?7, ?8)";

void ledger_ready(struct audit *audit)
{
	static const char *const list[] = { last_row, add_row, NULL };

	db_ready(audit, list);
}

/* The last row's place and link; 0 and "" in an empty one. */
static int load_head(struct audit *audit, int64_t *ret_place, char ret_link[HASH_HEX_LEN + 1],
		     struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = db_query(audit, err, last_row, "");
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	*ret_place = rc > 0 ? sqlite3_column_int64(stmt, 0) : 0;
	ret_link[0] = '\0';
	if (rc > 0)
		chain_hex(stmt, 1, ret_link);
	return rc < 0 ? -1 : 0;
}

static int append(struct audit *audit, struct chain_entry *entry, struct error *err)
{
	char head[HASH_HEX_LEN + 1];

	if (load_head(audit, &entry->place, head, err) < 0)
		return -1;
	entry->place++;
	entry->at_ms = clock_wall_ms();
	char link[HASH_HEX_LEN + 1];
	chain_entry(entry, head, link);
	unsigned char cover[HASH_HEX_LEN / 2], bytes[HASH_HEX_LEN / 2];
	return db_run(audit, err, add_row,
		      "iititt"
		      "bb",
		      entry->place, entry->at_ms, entry->act, entry->run, entry->id, entry->why,
		      cover, chain_bytes(entry->cover, cover), bytes, chain_bytes(link, bytes));
}

int ledger_made(struct audit *audit, struct error *err)
{
	struct chain_entry entry = { .act = "made" };
	sqlite3_stmt *stmt =
		db_query(audit, err, "SELECT key, value FROM meta WHERE key = 'salt'", "");

	if (!stmt || db_step(audit, stmt, err) <= 0)
		return -1;
	char cover[HASH_HEX_LEN + 1];
	chain_row(stmt, sqlite3_column_count(stmt), "", cover);
	sqlite3_reset(stmt);
	entry.cover = cover;
	return append(audit, &entry, err);
}

int ledger_ended(struct audit *audit, int64_t run, const char *id, struct error *err)
{
	struct chain_entry entry = { .act = "ended", .run = run, .id = id };
	char cover[HASH_HEX_LEN + 1];

	if (chain_cover(audit, run, cover, err) < 0)
		return -1;
	entry.cover = cover;
	return append(audit, &entry, err);
}

int ledger_removed(struct audit *audit, int64_t run, const char *id, const char *why,
		   struct error *err)
{
	struct chain_entry entry = { .act = "removed", .run = run, .id = id, .why = why };
	char cover[HASH_HEX_LEN + 1];

	if (chain_cover(audit, run, cover, err) < 0)
		return -1;
	entry.cover = cover;
	return append(audit, &entry, err);
}
