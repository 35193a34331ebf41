/* Events as they lie in the file. Internal to audit/. */
#ifndef AUDIT_EVENT_H
#define AUDIT_EVENT_H

#include "audit/chain.h"

/* A run's no and an event's seq in one number. */
#define EVENT_BITS	      20
#define EVENT_MAX	      ((int64_t)1 << EVENT_BITS)
#define EVENT_PLACE(run, seq) (((run) << EVENT_BITS) + (seq))

/* Adds the event after the last; hash is its link. */
int event_insert(struct audit *audit, int64_t run, const struct chain_event *event,
		 const char *hash, struct error *err);

/* Rows from EVENT_COLUMNS. */
#define EVENT_COLUMNS                                                                       \
	"SELECT e.place, e.at_ms, e.stage, e.attempt, e.phase, e.data_json, s.body, e.hash" \
	" FROM events e LEFT JOIN objects s ON s.no = e.shared"
#define EVENT_HASH_COLUMN 7
/* The row as an event whose data is in `text`, which it clears first; all valid until the next. */
void event_of_row(sqlite3_stmt *stmt, const char *run, struct buf *text, struct chain_event *ret);

#endif
