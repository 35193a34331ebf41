/*
 * GET /runs/ID/events: what the log has of a run, as server-sent events, and what is added to it as
 * it is added, until the run has ended. Each has its number as its id, so that a client that comes
 * again with Last-Event-ID goes on after it. Read piece by piece, so that many can watch.
 * Nothing is written to the log.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/service/owned.h"
#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS	   50
#define EVENTS_MAX ((size_t)64 << 20)

struct watching {
	int64_t seen; /* the number of the last event that was sent */
	int64_t looked_ms;
};

struct reading {
	struct exchange *x;
	struct watching *w;
};

static int send_event(void *self, struct audit_record *record)
{
	const struct reading *r = self;
	struct buf out = BUF_INIT(EVENTS_MAX);

	if (record->seq <= r->w->seen)
		return 0;
	struct json *data = json_object();
	json_set_int(data, "seq", record->seq);
	json_set_int(data, "at_ms", record->at_ms);
	json_set_string(data, "stage", record->stage);
	json_set_string(data, "phase", record->phase);
	json_set_int(data, "attempt", record->attempt);
	json_set(data, "data", json_copy(record->data));
	char *text = json_print(data);
	buf_addf(&out, "id: %" PRId64 "\nevent: %s\ndata: ", record->seq, record->stage);
	buf_addstr(&out, text);
	buf_addstr(&out, "\n\n");
	exchange_send(r->x, out.data, out.len);
	r->w->seen = record->seq;
	free(text);
	json_free(data);
	buf_release(&out);
	return 0;
}

static void send_end(struct exchange *x, const struct audit_row *row)
{
	struct json *data = json_object();

	json_set_string(data, "run", row->id);
	json_set_string(data, "status", row->status);
	cleanup_free char *text = json_print(data);
	cleanup_free char *event = mem_printf("event: end\ndata: %s\n\n", text);
	exchange_send(x, event, strlen(event));
	json_free(data);
}

/* A first time begins the stream. */
static struct watching *begin(struct exchange *x)
{
	void **memory = exchange_memory(x);
	const char *last = exchange_header(x, "Last-Event-ID");
	struct watching *w = *memory;

	if (w)
		return w;
	w = mem_alloc(sizeof(*w));
	*w = (struct watching){ .seen = last ? strtoll(last, NULL, 10) : -1 };
	*memory = w;
	exchange_begin_stream(x, "text/event-stream");
	return w;
}

bool http_looks_on(struct exchange *x, int64_t *looked_ms)
{
	struct pollfd p = { .fd = exchange_cancel_fd(x), .events = POLLIN };
	int64_t left = *looked_ms + LOOK_MS - clock_mono_ms();
	struct server_load load;

	server_look(exchange_server(x), &load);
	if (poll(&p, 1, left > 0 && left <= LOOK_MS ? (int)left : 0) > 0 || load.draining)
		return false;
	*looked_ms = clock_mono_ms();
	return true;
}

/* The run is looked at first: what is added until it has ended is there when its events are read.
 */
void http_run_events(struct exchange *x, struct worker *w)
{
	struct audit_row row = { .kind = NULL };
	struct reading r = { .x = x };
	struct error err = ERROR_INIT;

	if (owned_run(w->audit, exchange_part(x), exchange_owner(x), &row, &err) < 0) {
		exchange_refuse(x, err.kind == ERR_USAGE ? 404 : 500, err.message);
		return;
	}
	r.w = begin(x);
	if ((audit_events(w->audit, row.id, send_event, &r, &err) < 0 && err.kind != ERR_NONE) ||
	    row.ended_ms)
		send_end(x, &row);
	else if (http_looks_on(x, &r.w->looked_ms))
		exchange_again(x);
	audit_row_release(&row);
}
