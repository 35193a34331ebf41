/*
 * An answer that is sent as it comes: what a handler says is kept until the client takes it, and
 * counted as held. What is said is its handler's affair.
 */
#include "agent/doors/http/server.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define EVENTS_MAX ((size_t)4 << 20) /* that a client has not taken yet */

/* --- from the handler --- */

/* What was printed may be left out, from some point on: the result has it. */
static bool is_left_out(struct exchange *x, const char *name)
{
	if (strcmp(name, "output"))
		return false;
	pthread_mutex_lock(&x->lock);
	x->lost = x->lost || x->events.len - x->taken >= EVENTS_MAX;
	bool lost = x->lost;
	pthread_mutex_unlock(&x->lock);
	return lost;
}

void exchange_event(struct exchange *x, const char *name, const struct json *data)
{
	if (is_left_out(x, name))
		return;
	cleanup_free char *text = json_print(data);
	cleanup_free char *event = mem_printf("event: %s\ndata: %s\n\n", name, text);
	exchange_send(x, event, strlen(event));
}

/* It is counted before anybody can take it. */
void exchange_send(struct exchange *x, const void *bytes, size_t len)
{
	exchange_holds(x, HELD_ANSWER, len);
	pthread_mutex_lock(&x->lock);
	bool left = x->left, kept = !left && buf_add(&x->events, bytes, len) == 0;
	if (!left && !kept)
		exchange_cancel(x);
	exchange_wake(x);
	pthread_mutex_unlock(&x->lock);
	if (!kept)
		exchange_drops(x, HELD_ANSWER, len);
}

void exchange_cut(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	x->cut = true;
	pthread_mutex_unlock(&x->lock);
}

void exchange_begin_stream(struct exchange *x, const char *type)
{
	pthread_mutex_lock(&x->lock);
	x->late = true;
	x->type = type;
	exchange_wake(x);
	pthread_mutex_unlock(&x->lock);
}

/* --- to the client --- */

/* What is behind is let go when it is the larger part: moving the rest costs no more than what was
 * taken did; and when nothing is left, its place. */
static void take_events(struct exchange *x, size_t len)
{
	x->taken += len;
	if (x->taken == x->events.len)
		buf_release(&x->events);
	else if (x->taken > x->events.len / 2)
		buf_consume(&x->events, x->taken);
	else
		return;
	x->taken = 0;
}

ssize_t exchange_read_stream(void *self, uint64_t at, char *bytes, size_t room)
{
	struct exchange *x = self;

	(void)at;
	pthread_mutex_lock(&x->lock);
	bool last = x->done;
	size_t left = x->events.len - x->taken;
	ssize_t n = 0;
	if (x->left) {
		n = MHD_CONTENT_READER_END_WITH_ERROR;
	} else if (left) {
		n = (ssize_t)(left < room ? left : room);
		memcpy(bytes, x->events.data + x->taken, (size_t)n);
		take_events(x, (size_t)n);
	} else if (x->done) {
		n = x->cut ? MHD_CONTENT_READER_END_WITH_ERROR : MHD_CONTENT_READER_END_OF_STREAM;
	} else {
		x->suspended = true;
		microhttpd.suspend(x->mhd);
	}
	pthread_mutex_unlock(&x->lock);
	if (n > 0)
		exchange_drops(x, HELD_ANSWER, (size_t)n);
	if (last)
		exchange_begins_to_send(x);
	return n;
}
