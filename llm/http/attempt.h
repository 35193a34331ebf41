/*
 * One call and its tries, between llm/http/client.c, which decides whether there is
 * another, and llm/http/attempt.c, which makes one and judges what came.
 */
#ifndef LLM_ATTEMPT_H
#define LLM_ATTEMPT_H

#include "llm/wire/capability.h"
#include "llm/wire/decode.h"
#include "base/http/http.h"
#include "llm/wire/wire.h"

#define ATTEMPT_BODY_MAX ((size_t)64 << 20)

struct client {
	enum llm_wire kind;
	const struct wire *wire;
	struct http *http; /* opened by the first call */
	char *provider, *base_url, *auth, *key, *ca_file, *model;
	const struct http_words *words; /* or NULL */
	unsigned quirks;
	struct llm_limits *limits; /* borrowed, may be NULL */
	struct capability_lessons lessons;
	int retries;
	int64_t idle_timeout_ms, connect_timeout_ms, first_byte_timeout_ms;
};

/* One call while it runs. */
struct call {
	struct client *client;
	const struct llm_request *request;
	const struct llm_sink *sink; /* the caller's, may be NULL */
	struct llm_reply *reply;
	struct json *body;
	struct capability_target target;
	int64_t estimate;	       /* tokens of a try, for the shared limits */
	int64_t start_ms, deadline_ms; /* monotonic */
	int64_t waited_ms;	       /* before the coming try */
	int retries_done;
	bool repaired;
	bool text_given;	/* the sink has seen text */
	int billed;		/* tries that may have cost money */
	int unmetered;		/* of these, without a full report */
	struct llm_usage spent; /* of all tries, as far as reported */
};

enum body_mode { BODY_UNKNOWN, BODY_STREAM, BODY_WHOLE };

/* One try while it runs. */
struct attempt {
	struct call *call;
	struct http_request http;
	struct http_response response;
	struct llm_sink sink;
	struct decode decode;
	enum body_mode mode;
	struct buf whole;
	bool cancelled;
	bool answered;
	struct llm_error error;
	char *param; /* the rejected parameter, or NULL */
};

/* A status of success: 2xx. */
bool attempt_succeeded(const struct attempt *a);

void attempt_init(struct attempt *a, struct call *call);
void attempt_release(struct attempt *a);

/* Makes the exchange and judges it: answered, cancelled, or error is set. */
void attempt_run(struct attempt *a);

#endif
