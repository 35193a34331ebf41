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

/* Rows from EVENT_COLUMNS. A form that is not there leaves the stage and the phase empty. */
#define EVENT_COLUMNS                                                                      \
	"SELECT e.place, e.at_ms, coalesce(e.stage, f.stage), e.attempt, f.phase, e.data," \
	" f.body, e.hash FROM events e LEFT JOIN forms f ON f.no = e.form"
#define EVENT_HASH_COLUMN 7
/* The row as an event whose data is in `text`, which it clears first; all valid until the next. */
int event_of_row(struct audit *audit, sqlite3_stmt *stmt, const char *run, struct buf *text,
		 struct chain_event *ret, struct error *err);

/* What a form is found by: of its hash as much as a number holds. */
int64_t event_mark(const char *stage, const char *phase, const char *body);

#endif
