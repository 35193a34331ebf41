/*
 * How an event lies in the file: its form, which it shares with others (form.h), and what it says
 * itself. What it says is chain.h's and audit.h's.
 */
#include "audit/event.h"

#include "audit/form.h"
#include "audit/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#define MARK_DIGITS 15

int64_t event_mark(const char *stage, const char *phase, const char *body)
{
	const char *const parts[] = { stage, phase, body };
	struct hash *h = hash_start();

	for (size_t i = 0; i < 3; i++)
		hash_add(h, parts[i], strlen(parts[i]) + 1);
	char hex[HASH_HEX_LEN + 1];
	hash_finish(h, hex);
	hex[MARK_DIGITS] = '\0';
	return strtoll(hex, NULL, 16);
}

/* 1 and its no, 0 when there is none, -1. */
static int find_form(struct audit *audit, int64_t mark, const char *stage, const char *phase,
		     const char *body, int64_t *ret, struct error *err)
{
	cleanup_stmt sqlite3_stmt *stmt =
		db_query(audit, err,
			 "SELECT no FROM forms WHERE mark = ?1 AND stage = ?2 AND phase = ?3"
			 " AND body = ?4",
			 "ittt", mark, stage, phase, body);
	int rc = stmt ? db_step(audit, stmt, err) : -1;

	if (rc > 0)
		*ret = sqlite3_column_int64(stmt, 0);
	return rc;
}

/* The form's no, stored when it is new. */
static int store_form(struct audit *audit, const char *stage, const char *phase, const char *body,
		      int64_t *ret, struct error *err)
{
	const int64_t mark = event_mark(stage, phase, body);
	int rc = find_form(audit, mark, stage, phase, body, ret, err);

	if (rc)
		return rc < 0 ? -1 : 0;
	if (db_run(audit, err, "INSERT INTO forms(mark, stage, phase, body) VALUES(?1, ?2, ?3, ?4)",
		   "ittt", mark, stage, phase, body) < 0)
		return -1;
	*ret = sqlite3_last_insert_rowid(audit->db);
	return 0;
}

int event_insert(struct audit *audit, int64_t run, const struct chain_event *event,
		 const char *hash, struct error *err)
{
	cleanup_buf struct buf body = BUF_INIT(SIZE_MAX / 2), values = BUF_INIT(SIZE_MAX / 2);
	const bool own = !vocabulary_has(event->stage, strlen(event->stage));

	if (event->seq <= 0 || event->seq >= EVENT_MAX)
		return error_set(err, ERR_LOG,
				 "audit log %s: run %s has an event %lld, more than "
				 "a run may have",
				 audit->path, event->run, (long long)event->seq);
	int64_t form;
	if (form_cut(audit, run, event->data, &body, &values, err) < 0 ||
	    store_form(audit, own ? "" : event->stage, event->phase, body.data, &form, err) < 0)
		return -1;
	unsigned char bytes[HASH_HEX_LEN / 2];
	return db_run(audit, err, "INSERT INTO events VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		      "iiiitt"
		      "b",
		      EVENT_PLACE(run, event->seq), event->at_ms, event->attempt, form,
		      own ? event->stage : NULL, values.data, bytes, chain_bytes(hash, bytes));
}

int event_of_row(struct audit *audit, sqlite3_stmt *stmt, const char *run, struct buf *text,
		 struct chain_event *ret, struct error *err)
{
	buf_clear(text);
	if (form_fill(audit, db_column(stmt, 6), db_column(stmt, 5), text, err) < 0)
		return -1;
	*ret = (struct chain_event){
		.run = run,
		.seq = sqlite3_column_int64(stmt, 0) & (EVENT_MAX - 1),
		.at_ms = sqlite3_column_int64(stmt, 1),
		.stage = db_column(stmt, 2),
		.attempt = sqlite3_column_int64(stmt, 3),
		.phase = db_column(stmt, 4),
		.data = text->data,
	};
	return 0;
}
