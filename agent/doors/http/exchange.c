/*
 * One request: when its body is there (body.c), a worker makes the answer while the connection
 * sleeps, and the answer is sent, whole or as a stream of events. What a client that has gone was
 * waiting for is ended. No thread of the connections may wait for a worker.
 */
#include "agent/doors/http/server.h"

#include "agent/doors/service/weight.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/json_weight.h"
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

#define EVENT_BLOCK 16384
#define VALUE_BYTES ((size_t)128)      /* that a parsed value takes beside its text */
#define SMALL_BYTES ((size_t)64 << 10) /* an answer that is made whatever is held */
#define JSON_TYPE   "application/json"

/* --- holding --- */

void server_leave(struct server *s, void *guest)
{
	if (s->options.guests)
		s->options.guests->leave(s->options.guests->self, guest);
}

static void exchange_free(struct exchange *x)
{
	struct exchange **at = &x->server->staying;

	server_leave(x->server, x->guest);
	pthread_mutex_lock(&x->server->lock);
	while (*at && *at != x)
		at = &(*at)->next_staying;
	if (*at)
		*at = x->next_staying;
	x->server->load.exchanges--;
	exchange_drop_all(x);
	pthread_cond_broadcast(&x->server->changed);
	pthread_mutex_unlock(&x->server->lock);
	pthread_mutex_destroy(&x->lock);
	if (x->cancel_fd >= 0)
		io_close(x->cancel_fd);
	json_free(x->json);
	buf_release(&x->body);
	buf_release(&x->events);
	free(x->part);
	x->release(x->memory);
	free(x->answer);
	if (x->answer_fd >= 0)
		io_close(x->answer_fd);
	free(x->header_value);
	free(x);
}

static void let_go(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	int left = --x->holders;
	pthread_mutex_unlock(&x->lock);
	if (!left)
		exchange_free(x);
}

void exchange_cancel(struct exchange *x)
{
	uint64_t one = 1;

	(void)!io_write(x->cancel_fd, &one, sizeof(one));
}

/* --- the answer --- */

void exchange_wake(struct exchange *x)
{
	if (!x->suspended)
		return;
	x->suspended = false;
	microhttpd.resume(x->mhd);
}

void exchange_leave(struct exchange *x, bool ends)
{
	if (ends || !x->stays) {
		exchange_cancel(x);
		return;
	}
	pthread_mutex_lock(&x->lock);
	x->left = true;
	exchange_wake(x);
	pthread_mutex_unlock(&x->lock);
}

bool exchange_has_left(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	bool left = x->left;
	pthread_mutex_unlock(&x->lock);
	return left;
}

/* Takes bytes. */
static void answer_with(struct exchange *x, unsigned status, const char *type, char *bytes,
			size_t len)
{
	cleanup_free char *own = bytes;

	pthread_mutex_lock(&x->lock);
	if (!x->answered) {
		x->answered = true;
		x->status = status;
		x->type = type;
		x->answer = TAKE_PTR(own);
		x->answer_len = len;
	}
	pthread_mutex_unlock(&x->lock);
}

void exchange_answer_bytes(struct exchange *x, unsigned status, const char *type, const void *bytes,
			   size_t len)
{
	answer_with(x, status, type, mem_strndup(bytes, len), len);
}

void exchange_answer_file(struct exchange *x, unsigned status, const char *type, int fd,
			  size_t from, size_t len)
{
	pthread_mutex_lock(&x->lock);
	if (!x->answered) {
		x->answered = true;
		x->status = status;
		x->type = type;
		x->answer_fd = TAKE_FD(fd);
		x->answer_from = from;
		x->answer_len = len;
	}
	pthread_mutex_unlock(&x->lock);
	if (fd >= 0)
		io_close(fd);
}

void exchange_answer_header(struct exchange *x, const char *name, const char *value)
{
	pthread_mutex_lock(&x->lock);
	free(x->header_value);
	x->header_name = name;
	x->header_value = mem_strdup(value);
	pthread_mutex_unlock(&x->lock);
}

void exchange_answer_text(struct exchange *x, unsigned status, const char *type, const char *text)
{
	exchange_answer_bytes(x, status, type, text, strlen(text));
}

void exchange_answer(struct exchange *x, unsigned status, struct json *body)
{
	if (x->streams) {
		exchange_event(x, status < 300 ? "result" : "error", body);
	} else {
		char *text = json_print(body);

		answer_with(x, status, JSON_TYPE, text, strlen(text));
	}
	json_free(body);
}

static struct json *refusal(unsigned status, const char *message)
{
	struct json *object = json_object(), *error = json_object();

	json_set_int(error, "status", status);
	json_set_string(error, "message", message);
	json_set(object, "error", error);
	json_set_int(object, "code", status);	     /* where clients of E2B look for both, */
	json_set_string(object, "message", message); /* and those of Piston for this */
	return object;
}

void exchange_refuse(struct exchange *x, unsigned status, const char *message)
{
	exchange_answer(x, status, refusal(status, message));
}

/* Whether the connection is to be closed after it. */
static bool count(struct server *s, unsigned status)
{
	pthread_mutex_lock(&s->lock);
	s->load.requests++;
	if (status / 100 < 6)
		s->load.by_class[status / 100]++;
	bool last = s->draining;
	pthread_mutex_unlock(&s->lock);
	return last;
}

static enum MHD_Result queue(struct server *s, struct MHD_Connection *mhd, unsigned status,
			     const char *type, struct MHD_Response *response)
{
	if (!response)
		return MHD_NO;
	microhttpd.add_header(response, "Content-Type", type);
	microhttpd.add_header(response, "X-Content-Type-Options", "nosniff");
	microhttpd.add_header(response, "Cache-Control", "no-store");
	if (!strcmp(type, "text/event-stream")) /* what stands between passes it on at once */
		microhttpd.add_header(response, "X-Accel-Buffering", "no");
	if (status == MHD_HTTP_TOO_MANY_REQUESTS || status == MHD_HTTP_SERVICE_UNAVAILABLE)
		microhttpd.add_header(response, "Retry-After", "1");
	if (status == MHD_HTTP_UNAUTHORIZED)
		microhttpd.add_header(response, "WWW-Authenticate", "Bearer");
	if (count(s, status))
		microhttpd.add_header(response, "Connection", "close");
	enum MHD_Result rc = microhttpd.queue(mhd, status, response);
	microhttpd.destroy(response);
	return rc;
}

/* Takes said; allow is told with a 405. */
static enum MHD_Result queue_said(struct server *s, struct MHD_Connection *mhd, unsigned status,
				  struct json *said, const char *allow)
{
	cleanup_json struct json *body = said;
	cleanup_free char *text = json_print(body);
	struct MHD_Response *response =
		microhttpd.from_buffer(strlen(text), text, MHD_RESPMEM_MUST_COPY);

	if (response && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		microhttpd.add_header(response, "Allow", allow);
	return queue(s, mhd, status, JSON_TYPE, response);
}

static enum MHD_Result queue_refusal(struct server *s, struct MHD_Connection *mhd, unsigned status,
				     const char *why)
{
	return queue_said(s, mhd, status, refusal(status, why), "");
}

void exchange_begins_to_send(struct exchange *x)
{
	pthread_mutex_lock(&x->server->lock);
	if (!x->connection->sending_ms)
		x->connection->sending_ms = clock_mono_ms();
	x->connection->larger_ms = (int64_t)(x->answer_len / EXCHANGE_LARGE_RATE);
	pthread_mutex_unlock(&x->server->lock);
}

/* Takes what it is made of, if it is. */
static struct MHD_Response *response_of(struct exchange *x)
{
	struct MHD_Response *response =
		x->answer_fd >= 0 ?
			microhttpd.from_fd(x->answer_len, x->answer_fd, x->answer_from) :
			microhttpd.from_buffer(x->answer_len, x->answer, MHD_RESPMEM_MUST_FREE);

	if (!response)
		return NULL;
	x->answer = NULL;
	x->answer_fd = -1;
	if (x->header_name)
		microhttpd.add_header(response, x->header_name, x->header_value);
	return response;
}

static enum MHD_Result send_answer(struct exchange *x)
{
	struct MHD_Response *response = response_of(x);

	exchange_begins_to_send(x);
	return queue(x->server, x->mhd, x->status, x->type, response);
}

/* --- the work --- */

/* Who answered needs no more of it, and holds the answer. */
static void forget_request(struct exchange *x)
{
	json_free(TAKE_PTR(x->json));
	buf_release(&x->body);
	exchange_drops(x, HELD_REQUEST, x->held[HELD_REQUEST]);
	exchange_holds(x, HELD_ANSWER, x->answer_fd < 0 ? x->answer_len : 0);
}

static const char no_room[] = "as much of requests and answers is held as may be: come again when "
			      "some of those are answered and taken";

/* Since it was taken, others' answers came, and nobody took them. A stream has its own form, in
 * which this cannot be said: it breaks off. */
static void refuse_late(struct exchange *x)
{
	if (x->route->stream)
		exchange_cut(x);
	else
		exchange_refuse(x, MHD_HTTP_TOO_MANY_REQUESTS, no_room);
}

static void work_on(struct work *work, struct worker *w)
{
	struct exchange *x = (struct exchange *)work;

	bool begun = x->again;

	x->again = false;
	if (begun || exchange_may_hold(x, HELD_ANSWER, 0))
		x->route->handle(x, w);
	else
		refuse_late(x);
	if (x->again && service_submit(x->server->options.service, &x->work))
		return;
	forget_request(x);
	pthread_mutex_lock(&x->server->lock);
	x->worked_ms = clock_mono_ms();
	pthread_mutex_unlock(&x->server->lock);
	pthread_mutex_lock(&x->lock);
	x->done = true;
	exchange_wake(x);
	pthread_mutex_unlock(&x->lock);
	let_go(x);
}

static enum MHD_Result submit(struct exchange *x)
{
	x->work.run = work_on;
	x->work.owner = x->owner;
	x->work.looks = x->route->flags & HTTP_LOOKS;
	x->holders = 2;
	pthread_mutex_lock(&x->server->lock);
	x->connection->since_ms = 0;
	x->connection->exchange = x;
	if (x->stays) {
		x->next_staying = x->server->staying;
		x->server->staying = x;
	}
	pthread_mutex_unlock(&x->server->lock);
	if (!service_submit(x->server->options.service, &x->work)) {
		x->holders = 1;
		x->done = true;
		return queue_refusal(x->server, x->mhd, MHD_HTTP_TOO_MANY_REQUESTS,
				     "as many requests as are taken at once are waiting already");
	}
	if (x->streams)
		return queue(x->server, x->mhd, MHD_HTTP_OK,
			     x->route->stream ? x->route->stream : "text/event-stream",
			     microhttpd.from_callback(MHD_SIZE_UNKNOWN, EVENT_BLOCK,
						      exchange_read_stream, x, NULL));
	x->waits = true;
	return MHD_YES;
}

static enum MHD_Result refuse_room(struct exchange *x)
{
	return queue_refusal(x->server, x->mhd, MHD_HTTP_TOO_MANY_REQUESTS, no_room);
}

/* Whether there is room for what the body becomes when it is parsed, and for an answer: what is
 * made at once is looked at when it is there. */
static bool is_taken(struct exchange *x)
{
	size_t values = x->route->flags & HTTP_JSON ? json_weight(x->body.data, x->body.len) : 0;

	if (values > WEIGHT_VALUES_MAX) /* its reader refuses it */
		values = 0;
	return !x->no_room &&
	       (!values || exchange_may_hold(x, HELD_REQUEST, values * VALUE_BYTES)) &&
	       (x->route->at_once || exchange_may_hold(x, HELD_ANSWER, 0));
}

static enum MHD_Result answer_at_once(struct exchange *x)
{
	x->route->at_once(x);
	if (x->answer_len <= SMALL_BYTES)
		exchange_holds(x, HELD_ANSWER, x->answer_len);
	else if (x->answer_fd < 0 && !exchange_may_hold(x, HELD_ANSWER, x->answer_len))
		return refuse_room(x);
	return send_answer(x);
}

static enum MHD_Result begin(struct exchange *x)
{
	bool parsed = x->route->flags & HTTP_JSON, raw = x->route->flags & HTTP_RAW;
	struct error err = ERROR_INIT;

	if (x->too_large)
		return queue_refusal(x->server, x->mhd, MHD_HTTP_CONTENT_TOO_LARGE,
				     "the body is larger than is taken");
	if (parsed && !raw && weight_is_too_much(x->body.data, x->body.len))
		return queue_refusal(x->server, x->mhd, MHD_HTTP_CONTENT_TOO_LARGE,
				     "the body has more values than are taken");
	if (!is_taken(x))
		return refuse_room(x);
	if (parsed && !raw) {
		x->json = json_parse(x->body.data, x->body.len, 0, &err);
		if (!x->json)
			return queue_refusal(x->server, x->mhd,
					     x->unsaid ? MHD_HTTP_UNSUPPORTED_MEDIA_TYPE :
							 MHD_HTTP_BAD_REQUEST,
					     err.message);
	}
	bool streams = x->streams;
	x->streams = false; /* what is answered at once is whole */
	if (x->route->at_once)
		return answer_at_once(x);
	if (x->route->check && !x->route->check(x))
		return send_answer(x);
	if (parsed)
		buf_release(&x->body); /* what it says is known by now */
	x->streams = streams;
	return submit(x);
}

/* Again, when the worker is done; before that the connection sleeps. */
static enum MHD_Result go_on(struct exchange *x)
{
	pthread_mutex_lock(&x->lock);
	bool late = x->late;
	bool done = x->done;
	bool left = x->left && !done && !late; /* what it began stays */
	if (!done && !late && !left) {
		x->suspended = true;
		microhttpd.suspend(x->mhd);
	}
	pthread_mutex_unlock(&x->lock);
	if (left)
		return MHD_NO;
	if (late) {
		x->waits = false;
		return queue(x->server, x->mhd, MHD_HTTP_OK, x->type,
			     microhttpd.from_callback(MHD_SIZE_UNKNOWN, EVENT_BLOCK,
						      exchange_read_stream, x, NULL));
	}
	if (!done)
		return MHD_YES;
	exchange_refuse(x, MHD_HTTP_INTERNAL_SERVER_ERROR, "nothing was answered");
	return send_answer(x);
}

/* --- its head and body --- */

static struct exchange *exchange_new(struct server *s, struct MHD_Connection *mhd,
				     struct connection *c, struct admission *a)
{
	struct exchange *x = mem_alloc(sizeof(*x));
	char *part = TAKE_PTR(a->part);
	void *guest = TAKE_PTR(a->guest);

	*x = (struct exchange){
		.server = s,
		.mhd = mhd,
		.connection = c,
		.route = a->route,
		.part = part,
		.owner = a->owner,
		.guest = guest,
		.body = BUF_INIT(HTTP_BODY_MAX),
		.streams = a->route->stream ||
			   (a->route->flags & HTTP_STREAMS && exchange_wants_events(mhd)),
		.unsaid = a->unsaid,
		.stays = a->route->flags & HTTP_STAYS,
		.cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.holders = 1,
		.release = free,
		.answer_fd = -1,
		.events = BUF_INIT(EXCHANGE_STREAM_MAX),
	};
	pthread_mutex_init(&x->lock, NULL);
	return x;
}

static struct connection *connection_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		microhttpd.info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static void answer_refusal(struct exchange *x)
{
	exchange_answer_text(x, x->status, JSON_TYPE, *exchange_memory(x));
}

/* It is told so when its body has come, of which nothing is kept. */
static struct exchange *refusal_new(struct server *s, struct MHD_Connection *mhd,
				    struct connection *c, unsigned status, struct admission *a)
{
	static const struct route refused = { "", "", 0, NULL, answer_refusal };
	cleanup_json struct json *said = a->said ? TAKE_PTR(a->said) : refusal(status, a->why);

	a->route = &refused;
	struct exchange *x = exchange_new(s, mhd, c, a);
	x->memory = json_print(said);
	x->status = status;
	return x;
}

static enum MHD_Result take_head(struct server *s, struct MHD_Connection *mhd, const char *url,
				 const char *method, void **context)
{
	struct connection *c = connection_of(mhd);

	if (!c)
		return MHD_NO;
	struct admission a;
	unsigned status = admit(s, mhd, c->foreign, url, method, &a);
	pthread_mutex_lock(&s->lock);
	bool draining = s->draining;
	bool waits = status && a.reads_on && !draining && exchange_body_is_written(mhd);
	s->load.exchanges += (!status || waits) && !draining;
	pthread_mutex_unlock(&s->lock);
	if (waits) {
		*context = refusal_new(s, mhd, c, status, &a);
		return ((struct exchange *)*context)->cancel_fd < 0 ? MHD_NO : MHD_YES;
	}
	if (status || draining) {
		free(a.part);
		server_leave(s, a.guest);
		if (!status)
			return queue_refusal(s, mhd, MHD_HTTP_SERVICE_UNAVAILABLE,
					     "the server is about to end");
		return queue_said(s, mhd, status, a.said ? a.said : refusal(status, a.why),
				  a.allow);
	}
	*context = exchange_new(s, mhd, c, &a);
	if (exchange_is_announced_too_large(*context))
		return queue_refusal(s, mhd, MHD_HTTP_CONTENT_TOO_LARGE,
				     "the body is larger than is taken");
	return ((struct exchange *)*context)->cancel_fd < 0 ? MHD_NO : MHD_YES;
}

enum MHD_Result exchange_on_request(void *self, struct MHD_Connection *mhd, const char *url,
				    const char *method, const char *version, const char *bytes,
				    size_t *len, void **context)
{
	struct exchange *x = *context;

	(void)version;
	if (!x)
		return take_head(self, mhd, url, method, context);
	if (*len) {
		exchange_take_body(x, bytes, *len);
		*len = 0;
		return MHD_YES;
	}
	if (!x->begun) {
		x->begun = true;
		if (begin(x) != MHD_YES)
			return MHD_NO;
		if (!x->waits)
			return MHD_YES; /* what is to be sent is known, or a stream */
	}
	return x->waits ? go_on(x) : MHD_YES;
}

void exchange_on_completed(void *self, struct MHD_Connection *mhd, void **context,
			   enum MHD_RequestTerminationCode code)
{
	struct exchange *x = *context;
	struct server *s = self;

	(void)mhd;
	(void)code;
	if (!x)
		return;
	*context = NULL;
	pthread_mutex_lock(&s->lock);
	x->connection->since_ms = clock_mono_ms();
	x->connection->sending_ms = 0;
	x->connection->larger_ms = 0;
	x->connection->exchange = NULL;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&x->lock);
	x->left = true;
	x->suspended = false;
	pthread_mutex_unlock(&x->lock);
	if (!x->stays)
		exchange_cancel(x); /* nobody waits; in vain where it is done */
	let_go(x);
}
