/*
 * Messages of JSON-RPC 2.0, as the Model Context Protocol takes them: one JSON object each. Bytes
 * of a client go in, and a request, a notification, a response or an error to answer with comes
 * out; nothing in it is trusted beyond that.
 */
#ifndef AGENT_DOORS_MESSAGE_H
#define AGENT_DOORS_MESSAGE_H

#include "base/json.h"

#define MESSAGE_BYTES_MAX ((size_t)16 << 20)
enum message_kind {
	MESSAGE_REQUEST,
	MESSAGE_NOTIFICATION,
	MESSAGE_RESPONSE, /* to a request of ours */
	MESSAGE_BAD,	  /* to be answered with code and problem */
};

enum message_code {
	MESSAGE_PARSE_ERROR = -32700,
	MESSAGE_INVALID = -32600,
	MESSAGE_NO_METHOD = -32601,
	MESSAGE_BAD_PARAMS = -32602,
	MESSAGE_INTERNAL = -32603,
	MESSAGE_HEADER_MISMATCH = -32020,
	MESSAGE_UNSUPPORTED_VERSION = -32022,
};

struct message {
	enum message_kind kind;
	struct json *whole;	   /* owned; NULL of what is no JSON object */
	const struct json *id;	   /* of whole; NULL: none */
	const char *method;	   /* of a request or notification */
	const struct json *params; /* NULL or an object */
	enum message_code code;	   /* of MESSAGE_BAD */
	char problem[256];
};

void message_read(struct message *ret, const char *bytes, size_t len);
void message_release(struct message *m);

/* Documents to send. Each takes result; id is copied, and NULL becomes null. Caller frees. */
struct json *message_result(const struct json *id, struct json *result);
struct json *message_error(const struct json *id, enum message_code code, const char *text,
			   struct json *data);
struct json *message_notification(const char *method, struct json *params);

#endif
