/*
 * The Model Context Protocol over HTTP (its streamable transport): one message a POST, answered by
 * one JSON document, or by a stream of events where there is more to say. In the era without
 * initialize the headers must say what the body says, nothing is remembered between two requests,
 * and a client that leaves has cancelled. In the one before, initialize begins a session, in which
 * calls are cancelled and questions answered by messages of their own.
 *
 * Messages are read in the server's thread, which answers what needs no worker; only there a peer
 * takes one.
 */
#include "agent/doors/http/http.h"

#include "agent/doors/mcp/message.h"
#include "base/base64.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define MODERN	     "2026-07-28"
#define NAME_MAX_LEN 1024

/* --- headers and body --- */

/* Without the blanks around it, which are not of the value. Owned. */
static char *trimmed(const char *value)
{
	value += strspn(value, " \t");
	size_t len = strlen(value);
	while (len && strchr(" \t", value[len - 1]))
		len--;
	return mem_strndup(value, len);
}

/* "=?base64?...?=" is a value that no header could hold as it is. */
static char *header_value(const struct exchange *x, const char *name)
{
	static const char begin[] = "=?base64?", end[] = "?=";
	const char *header = exchange_header(x, name);
	struct buf plain = BUF_INIT(NAME_MAX_LEN);

	if (!header)
		return NULL;
	char *value = trimmed(header);
	size_t len = strlen(value);
	if (len < strlen(begin) + strlen(end) || strncmp(value, begin, strlen(begin)) ||
	    strcmp(value + len - strlen(end), end))
		return value;
	if (base64_decode(&plain, value + strlen(begin), len - strlen(begin) - strlen(end)) < 0) {
		buf_release(&plain);
		return value;
	}
	free(value);
	return buf_take(&plain, NULL);
}

/* Whether a header says what the body says; both may be absent. */
static bool agrees(const struct exchange *x, const char *name, const char *body)
{
	cleanup_free char *value = header_value(x, name);

	return value && body ? !strcmp(value, body) : !value == !body;
}

/* What is wrong with the headers of a request of the new era; NULL: nothing. */
static const char *mismatch(const struct exchange *x, const struct message *m)
{
	const char *version = json_get_string(json_get(m->params, "_meta"), META_VERSION);
	const char *header = exchange_header(x, "MCP-Protocol-Version");

	if (!version || m->kind != MESSAGE_REQUEST)
		return NULL;
	if (!header || strcmp(header, version))
		return "header mismatch: MCP-Protocol-Version is not the version of the body";
	if (!agrees(x, "Mcp-Method", m->method))
		return "header mismatch: Mcp-Method is not the method of the body";
	if (!strcmp(m->method, "tools/call") &&
	    !agrees(x, "Mcp-Name", json_get_string(m->params, "name")))
		return "header mismatch: Mcp-Name is not the tool of the body";
	return NULL;
}

/* --- one message --- */

struct remote {
	struct exchange *x;
	struct mcp_session *session; /* held; NULL: the message belongs to nothing */
	struct peer *peer;	     /* the session's, or its own */
	struct flight *flight;	     /* to be made by a worker */
	bool modern, may_stream, streaming, answered;
};

static void release(void *memory)
{
	struct remote *r = memory;

	if (r->flight)
		flight_drop(r->flight);
	if (!r->session)
		peer_free(r->peer);
	mcp_session_put_back(r->session);
	free(r);
}

static unsigned status_of(const struct remote *r, const struct json *message)
{
	int64_t code = json_get_int(json_get(message, "error"), "code", 0);

	if (!code)
		return 200;
	if (code == MESSAGE_NO_METHOD && r->modern)
		return 404;
	return r->modern || code == MESSAGE_PARSE_ERROR || code == MESSAGE_INVALID ? 400 : 200;
}

static void stream(struct remote *r, const struct json *message)
{
	cleanup_free char *text = json_print(message);
	cleanup_free char *event = mem_printf("event: message\ndata: %s\n\n", text);

	if (!r->streaming)
		exchange_begin_stream(r->x, "text/event-stream");
	r->streaming = true;
	exchange_send(r->x, event, strlen(event));
}

/* What is said beside the answer goes before it, where the client takes a stream. */
static void take_message(void *self, const struct json *message)
{
	struct remote *r = self;
	bool beside = json_get(message, "method") != NULL;

	if (r->answered || (beside && !r->may_stream))
		return;
	r->answered = !beside;
	if (beside || r->streaming)
		stream(r, message);
	else
		exchange_answer(r->x, status_of(r, message), json_copy(message));
}

static bool has_left(void *self)
{
	const struct remote *r = self;

	return exchange_has_left(r->x);
}

static const char *session_header(const struct remote *r)
{
	return r->modern ? NULL : exchange_header(r->x, "Mcp-Session-Id");
}

/* Whose message it is: a client's that has begun, or begins, or nobody's. False: of one that there
 * is not. */
static bool find_peer(struct remote *r, const struct message *m)
{
	struct mcp *mcp = server_options_of(exchange_server(r->x))->mcp;
	const char *owner = exchange_owner(r->x), *id = session_header(r);
	const struct peer_sink sink = { take_message, r };

	if (id)
		r->session = mcp_session_hold(mcp, owner, id);
	else if (!r->modern && m->kind == MESSAGE_REQUEST && !strcmp(m->method, "initialize") &&
		 json_get_string(m->params, "protocolVersion"))
		r->session = mcp_session_open(mcp, owner);
	if (id && !r->session)
		return false;
	if (r->session && !id)
		exchange_answer_header(r->x, "Mcp-Session-Id", mcp_session_id(r->session));
	r->peer = r->session ? mcp_session_peer(r->session) : peer_new(mcp, &sink, owner);
	if (!r->session && !r->modern)
		peer_is_initialized(r->peer);
	return true;
}

/* Of requests that need none, and of what is nobody's, the answer; false: a worker is to go on. A
 * client that left has not cancelled what it can cancel by a message (2025-11-25, transports). */
static bool is_done(struct remote *r, struct message *m)
{
	const struct peer_remote remote = { .sink = { take_message, r },
					    .has_left = has_left,
					    .streams = r->may_stream,
					    .cancel_fd = exchange_cancel_fd(r->x) };

	r->flight = peer_take(r->peer, &remote, m, exchange_body(r->x)->len);
	if (!r->flight) {
		if (!r->answered)
			exchange_answer_text(r->x, 202, "application/json", "");
		return true;
	}
	if (r->session)
		exchange_stays(r->x);
	const struct work *work = flight_work(r->flight);
	if (*work->alone)
		exchange_is_alone(r->x, work->alone, work->place);
	return false;
}

/* Of a request, by its headers: what is wrong with it, to be answered so. NULL: nothing. */
static struct json *objection(const struct remote *r, const struct message *m, const char *version)
{
	const char *problem = mismatch(r->x, m);
	bool begins = m->kind == MESSAGE_REQUEST && !strcmp(m->method, "initialize");

	if (problem)
		return message_error(m->id, MESSAGE_HEADER_MISMATCH, problem, NULL);
	if (version && !r->modern && !begins && !peer_knows_version(version))
		return peer_refuse_version(m->id, version);
	return NULL;
}

bool http_mcp_check(struct exchange *x)
{
	const char *version = exchange_header(x, "MCP-Protocol-Version");
	struct remote *r = mem_alloc(sizeof(*r));
	struct message m;

	message_read(&m, exchange_body(x)->data, exchange_body(x)->len);
	*r = (struct remote){ .x = x, .may_stream = exchange_takes_events(x) };
	r->modern = json_get(json_get(m.params, "_meta"), META_VERSION) ||
		    (version && !strcmp(version, MODERN));
	exchange_memory_is(x, r, release);
	struct json *wrong = objection(r, &m, version);
	if (!wrong && find_peer(r, &m))
		return !is_done(r, &m);
	if (wrong)
		exchange_answer(x, 400, wrong);
	else
		exchange_answer(x, 404,
				message_error(m.id, MESSAGE_INVALID,
					      "there is no such session: begin with initialize",
					      NULL));
	message_release(&m);
	return false;
}

void http_mcp(struct exchange *x, struct worker *w)
{
	struct remote *r = exchange_memory_of(x);

	flight_fly(TAKE_PTR(r->flight), w);
	if (!r->answered && !r->streaming) /* it was cancelled */
		exchange_answer_text(x, 202, "application/json", "");
}

/* A client says that it is gone. */
void http_mcp_end(struct exchange *x)
{
	const char *version = exchange_header(x, "MCP-Protocol-Version");
	const char *id = exchange_header(x, "Mcp-Session-Id");

	if (version && !strcmp(version, MODERN)) {
		exchange_answer_header(x, "Allow", "POST");
		exchange_refuse(x, 405, "this version of the protocol has no sessions");
	} else if (!id) {
		exchange_refuse(x, 400, "Mcp-Session-Id is missing");
	} else if (mcp_session_end(server_options_of(exchange_server(x))->mcp, exchange_owner(x),
				   id)) {
		exchange_answer_text(x, 200, "application/json", "{}");
	} else {
		exchange_refuse(x, 404, "there is no such session");
	}
}
