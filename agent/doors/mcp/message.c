/*
 * Reading and making messages. A text is weighed before it is parsed: what would take much more
 * memory than it has bytes is refused, and no text makes this fail in another way than MESSAGE_BAD.
 */
#include "agent/doors/mcp/message.h"

#include "agent/doors/service/weight.h"

#include <stdio.h>
#include <string.h>

#define BIG_DIGITS 16 /* of the first number that is no double's any more */

static void bad(struct message *m, enum message_code code, const char *problem)
{
	m->kind = MESSAGE_BAD;
	m->code = code;
	snprintf(m->problem, sizeof(m->problem), "%.*s", (int)sizeof(m->problem) - 1, problem);
}

static bool is_id(const struct json *id)
{
	return json_string(id) ||
	       (json_type(id) == JSON_NUMBER && json_int(id, INT64_MIN) != INT64_MIN);
}

static void read_call(struct message *m)
{
	const struct json *params = json_get(m->whole, "params");

	m->method = json_get_string(m->whole, "method");
	if (!m->method) {
		bad(m, MESSAGE_INVALID, "method is not a text");
		return;
	}
	if (params && json_type(params) != JSON_OBJECT) {
		bad(m, MESSAGE_BAD_PARAMS, "params is not an object");
		return;
	}
	m->params = params;
	m->kind = m->id ? MESSAGE_REQUEST : MESSAGE_NOTIFICATION;
}

static void read_object(struct message *m)
{
	const char *version = json_get_string(m->whole, "jsonrpc");
	const struct json *id = json_get(m->whole, "id");

	if (!json_get(m->whole, "method") && json_get(m->whole, "error") &&
	    json_type(id) == JSON_NULL) { /* to what had no id: no answer begets another */
		m->kind = MESSAGE_RESPONSE;
		return;
	}
	if (id && !is_id(id)) {
		bad(m, MESSAGE_INVALID, "id is neither a text nor a whole number");
		return;
	}
	m->id = id;
	if (!version || strcmp(version, "2.0"))
		bad(m, MESSAGE_INVALID, "jsonrpc is not \"2.0\"");
	else if (json_get(m->whole, "method"))
		read_call(m);
	else if (id && (json_get(m->whole, "result") || json_get(m->whole, "error")))
		m->kind = MESSAGE_RESPONSE;
	else
		bad(m, MESSAGE_INVALID, "neither a request nor a response");
}

/* An id that is itself what cannot be held would be another one: U+FFFD in it, or a number that
 * came to be a text. */
static bool is_altered(const struct json *id)
{
	const char *text = json_string(id);

	return text && (strstr(text, "\xef\xbf\xbd") ||
			(strlen(text) >= BIG_DIGITS && !text[strspn(text, "-0123456789")]));
}

/* It is JSON, and has what nothing here can hold, as a NUL in a text: whoever waits for an answer
 * to it is to get one. */
static void read_unheld(struct message *m, const char *bytes, size_t len, const char *problem)
{
	struct error ignored = ERROR_INIT;

	bad(m, MESSAGE_PARSE_ERROR, problem);
	m->whole = json_parse(
		bytes, len, JSON_NUL_AS_FFFD | JSON_BIG_AS_STRING | JSON_FIRST_OF_TWINS, &ignored);
	const struct json *id = json_get(m->whole, "id");
	if (!json_get(m->whole, "method") || !is_id(id) || is_altered(id))
		return;
	m->id = id;
	m->code = MESSAGE_BAD_PARAMS;
}

void message_read(struct message *m, const char *bytes, size_t len)
{
	*m = (struct message){ .kind = MESSAGE_BAD };
	if (len > MESSAGE_BYTES_MAX || weight_is_too_much(bytes, len)) {
		bad(m, MESSAGE_INVALID, "the message is larger than is taken");
		return;
	}
	struct error err = ERROR_INIT;
	m->whole = json_parse(bytes, len, 0, &err);
	enum json_type type = json_type(m->whole);
	if (!m->whole)
		read_unheld(m, bytes, len, err.message);
	else if (type == JSON_ARRAY)
		bad(m, MESSAGE_INVALID, "messages are sent one by one, not in a batch");
	else if (type != JSON_OBJECT)
		bad(m, MESSAGE_INVALID, "a message is an object");
	else
		read_object(m);
}

void message_release(struct message *m)
{
	json_free(m->whole);
	*m = (struct message){ .kind = MESSAGE_BAD };
}

/* --- making --- */

static struct json *envelope(const struct json *id)
{
	struct json *m = json_object();

	json_set_string(m, "jsonrpc", "2.0");
	json_set(m, "id", id ? json_copy(id) : json_new_null());
	return m;
}

struct json *message_result(const struct json *id, struct json *result)
{
	struct json *m = envelope(id);

	json_set(m, "result", result);
	return m;
}

struct json *message_error(const struct json *id, enum message_code code, const char *text,
			   struct json *data)
{
	struct json *m = envelope(id), *error = json_object();

	json_set_int(error, "code", code);
	json_set_string(error, "message", text);
	if (data)
		json_set(error, "data", data);
	json_set(m, "error", error);
	return m;
}

struct json *message_notification(const char *method, struct json *params)
{
	struct json *m = json_object();

	json_set_string(m, "jsonrpc", "2.0");
	json_set_string(m, "method", method);
	json_set(m, "params", params);
	return m;
}
