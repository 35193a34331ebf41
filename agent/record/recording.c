/*
 * A run out of the log, as data: its events in their order, what is found among them, and what was
 * played already. It plays nothing itself (player.c), and changes no log.
 */
#include "agent/record/recording.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define BLOB_MAX ((size_t)1 << 30)

/* --- loading --- */

static int on_record(void *self, struct audit_record *record)
{
	struct recording *r = self;

	r->events = mem_one_more(r->events, r->count, sizeof(*r->events));
	r->events[r->count++] = (struct recorded_event){
		.stage = mem_strdup(record->stage),
		.phase = mem_strdup(record->phase),
		.attempt = record->attempt,
		.data = record->data,
	};
	record->data = NULL; /* kept here */
	return 0;
}

int recording_load(struct recording *ret, struct audit *audit, const char *which, struct error *err)
{
	struct recording r = { .audit = audit };

	if (audit_find(audit, which, &r.row, err) < 0)
		return -1;
	if (audit_events(audit, r.row.id, on_record, &r, err) < 0) {
		recording_release(&r);
		return -1;
	}
	*ret = r;
	return 0;
}

void recording_release(struct recording *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->events[i].stage);
		free(r->events[i].phase);
		json_free(r->events[i].data);
	}
	free(r->events);
	audit_row_release(&r->row);
	*r = (struct recording){ .audit = NULL };
}

const struct recorded_event *recording_find(const struct recording *r, const char *stage,
					    int attempt, const char *phase)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->events[i].stage, stage) && !strcmp(r->events[i].phase, phase) &&
		    (attempt < 0 || r->events[i].attempt == attempt))
			return &r->events[i];
	return NULL;
}

struct recorded_event *recording_next(struct recording *r, const char *stage, const char *phase,
				      int attempt, bool (*is)(const struct recorded_event *))
{
	for (size_t i = 0; i < r->count; i++) {
		struct recorded_event *e = &r->events[i];

		if (!e->used && !strcmp(e->stage, stage) && e->attempt == attempt &&
		    (!phase || !strcmp(e->phase, phase)) && (!is || is(e)))
			return e;
	}
	return NULL;
}

struct recorded_event *recording_next_execution(struct recording *r, const char *phase, int attempt)
{
	for (size_t i = 0; i < r->count; i++) {
		struct recorded_event *e = &r->events[i];

		if (!e->used && e->attempt == attempt && !strcmp(e->phase, phase) &&
		    (!strcmp(e->stage, stage_name(STAGE_EXECUTE)) ||
		     (!strcmp(e->stage, stage_name(STAGE_LOOK)) &&
		      (json_get(e->data, "outcome") || json_get(e->data, "wall_limit_ms")))))
			return e;
	}
	return NULL;
}

bool recording_asked(const struct recording *r, const char *stage)
{
	for (size_t i = 0; i < r->count; i++)
		if (!strcmp(r->events[i].stage, stage) && !strcmp(r->events[i].phase, "started") &&
		    json_get(r->events[i].data, "messages"))
			return true;
	return false;
}

bool recording_is_screening(const struct recorded_event *e)
{
	return json_get(e->data, "ruleset");
}

bool recording_has_parse(struct recording *r, const char *stage, int attempt)
{
	return recording_next(r, stage, "done", attempt, recording_is_screening);
}

bool recording_has_execution(struct recording *r, int attempt)
{
	return recording_next_execution(r, "done", attempt);
}

const char *recording_language(const struct recording *r)
{
	const struct recorded_event *e =
		recording_find(r, stage_name(STAGE_EXECUTE), -1, "started");

	return e ? json_get_string(e->data, "language") : NULL;
}

const char *recording_cut_off(const struct recording *r)
{
	if (r->row.ended_ms)
		return NULL;
	return r->count ? r->events[r->count - 1].stage : "its beginning";
}

int recording_lacks(const struct recording *r, enum error_kind kind, const char *what,
		    struct error *err)
{
	if (!r->row.ended_ms)
		return error_set(err, ERR_CANCELLED, "the record was cut off after %s",
				 recording_cut_off(r));
	return error_set(err, kind, "the loop %s", what);
}

/* --- blobs --- */

int recording_blob(const struct recording *r, const struct json *data, const char *name,
		   char **ret_bytes, size_t *ret_len, struct error *err)
{
	cleanup_buf struct buf bytes = BUF_INIT(BLOB_MAX);
	int64_t redactions = 0;

	if (audit_blob_of(r->audit, data, name, &bytes, err) < 0 ||
	    (r->redactions && audit_blob_redactions(r->audit, data, name, &redactions, err) < 0))
		return -1;
	/* A copy of a log, or what was made of what was read, has only what stands there. */
	if (r->redactions && (redactions > 0 || memmem(bytes.data, bytes.len, "[REDACTED:", 10)))
		++*r->redactions;
	size_t len;
	*ret_bytes = buf_take(&bytes, &len);
	if (ret_len)
		*ret_len = len;
	return 0;
}
