/*
 * The Model Context Protocol over HTTP (its streamable transport, without sessions): one message a
 * POST, answered by one JSON document. In the era without initialize the headers must say what the
 * body says; nothing is remembered between two requests.
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
	if (base64_decode(&plain, value + strlen(begin), len - strlen(begin) - strlen(end)) < 0)
		return value;
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
	bool modern;
	bool answered;
};

static unsigned status_of(const struct remote *r, const struct json *message)
{
	int64_t code = json_get_int(json_get(message, "error"), "code", 0);

	if (!code)
		return 200;
	if (code == MESSAGE_NO_METHOD && r->modern)
		return 404;
	return r->modern || code == MESSAGE_PARSE_ERROR || code == MESSAGE_INVALID ? 400 : 200;
}

/* The answer alone: there is no stream for what is said beside it. */
static void take_answer(void *self, const struct json *message)
{
	struct remote *r = self;

	if (json_get(message, "method") || r->answered)
		return;
	r->answered = true;
	exchange_answer(r->x, status_of(r, message), json_copy(message));
}

static void serve(struct remote *r, struct worker *w)
{
	const struct peer_sink sink = { take_answer, r };
	const struct buf *body = exchange_body(r->x);
	struct peer *peer = peer_new(server_options_of(exchange_server(r->x))->mcp, &sink,
				     exchange_owner(r->x));

	peer_is_remote(peer, w, exchange_cancel_fd(r->x), !r->modern);
	peer_message(peer, body->data, body->len);
	peer_free(peer);
	if (!r->answered) /* a notification, or cancelled */
		exchange_answer_text(r->x, 202, "application/json", "");
}

void http_mcp(struct exchange *x, struct worker *w)
{
	const char *version = exchange_header(x, "MCP-Protocol-Version");
	struct remote r = { .x = x };
	struct message m;

	message_read(&m, exchange_body(x)->data, exchange_body(x)->len);
	r.modern = json_get(json_get(m.params, "_meta"), META_VERSION) != NULL ||
		   (version && !strcmp(version, MODERN));
	const char *problem = mismatch(x, &m);
	if (problem)
		exchange_answer(x, 400,
				message_error(m.id, MESSAGE_HEADER_MISMATCH, problem, NULL));
	else
		serve(&r, w);
	message_release(&m);
}
