/*
 * How an event lies in the file: which members of its data it shares with
 * others. What it says is chain.h's and audit.h's.
 */
#include "audit/event.h"

#include "audit/share.h"

/* The object's no, stored when it is new. */
static int store_object(struct audit *audit, const char *body, int64_t *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt = NULL;

	if (db_run(audit, err, "INSERT INTO objects(body) VALUES(?1) ON CONFLICT DO NOTHING", "t",
		   body) < 0)
		return -1;
	stmt = db_query(audit, err, "SELECT no FROM objects WHERE body = ?1", "t", body);
	if (!stmt || db_step(audit, stmt, err) <= 0)
		return -1;
	*ret = sqlite3_column_int64(stmt, 0);
	return 0;
}

int event_insert(struct audit *audit, int64_t run, const struct chain_event *event,
		 const char *hash, struct error *err)
{
	cleanup_buf struct buf rest = BUF_INIT(SIZE_MAX / 2), shared = BUF_INIT(SIZE_MAX / 2);
	unsigned char bytes[HASH_HEX_LEN / 2];
	bool cut = share_cut(event->data, &rest, &shared);
	int64_t object = -1;

	if (event->seq <= 0 || event->seq >= EVENT_MAX)
		return error_set(err, ERR_LOG,
				 "audit log %s: run %s has an event %lld, more than "
				 "a run may have",
				 audit->path, event->run, (long long)event->seq);
	if (cut && store_object(audit, shared.data, &object, err) < 0)
		return -1;
	return db_run(audit, err, "INSERT INTO events VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
		      "iititt"
		      "nb",
		      EVENT_PLACE(run, event->seq), event->at_ms, event->stage, event->attempt,
		      event->phase, cut ? rest.data : event->data, object, bytes,
		      chain_bytes(hash, bytes));
}

void event_of_row(sqlite3_stmt *stmt, const char *run, struct buf *text, struct chain_event *ret)
{
	buf_clear(text);
	share_join(db_column(stmt, 5), db_column(stmt, 6), text);
	*ret = (struct chain_event){
		.run = run,
		.seq = sqlite3_column_int64(stmt, 0) & (EVENT_MAX - 1),
		.at_ms = sqlite3_column_int64(stmt, 1),
		.stage = db_column(stmt, 2),
		.attempt = sqlite3_column_int64(stmt, 3),
		.phase = db_column(stmt, 4),
		.data = text->data,
	};
}
