/*
 * One try of a call over HTTP: from the request to a reply, or to an error and its class. It
 * never tries twice; whether to is the client's decision.
 */
#include "llm/http/attempt.h"

#include "base/clock.h"
#include "base/mem.h"
#include "llm/wire/errors.h"
#include "llm/http/retry.h"
#include "llm/http/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINGER_MS	 1000 /* for the end of a stream after its last event */
#define STREAM_MAX_BYTES ((size_t)256 << 20)

bool attempt_succeeded(const struct attempt *a)
{
	return a->response.status >= 200 && a->response.status < 300;
}

static void on_text(void *self, const char *bytes, size_t len)
{
	struct call *c = self;

	if (c->reply->first_token_ms < 0)
		c->reply->first_token_ms = clock_mono_ms() - c->start_ms;
	c->text_given = true;
	if (c->sink && c->sink->text)
		c->sink->text(c->sink->self, bytes, len);
}

static void on_reasoning(void *self, const char *bytes, size_t len)
{
	struct call *c = self;

	if (c->reply->first_token_ms < 0)
		c->reply->first_token_ms = clock_mono_ms() - c->start_ms;
	if (c->sink && c->sink->reasoning)
		c->sink->reasoning(c->sink->self, bytes, len);
}

/* What a body is, by its type and first byte: servers mix up both. */
static enum body_mode choose_mode(const struct attempt *a, const char *bytes)
{
	const char *type = a->response.content_type;

	if (!attempt_succeeded(a))
		return BODY_WHOLE;
	if (strcasestr(type, "event-stream") || strcasestr(type, "ndjson"))
		return BODY_STREAM;
	if (!a->call->request->stream || strcasestr(type, "json") || strcasestr(type, "html"))
		return BODY_WHOLE;
	if (a->call->client->wire->responses.framing == SSE_LINES)
		return BODY_STREAM;
	return *bytes == '{' || *bytes == '[' || *bytes == '<' ? BODY_WHOLE : BODY_STREAM;
}

static bool on_body(void *self, const char *bytes, size_t len)
{
	struct attempt *a = self;

	if (len == 0)
		return true;
	if (a->mode == BODY_UNKNOWN)
		a->mode = choose_mode(a, bytes);
	if (a->mode == BODY_WHOLE)
		return buf_add(&a->whole, bytes, len) == 0;
	if (decode_feed(&a->decode, bytes, len) < 0)
		return false;
	if (a->decode.terminal || a->decode.ended)
		a->http.idle_timeout_ms = LINGER_MS;
	return true;
}

static enum llm_error_class class_of_end(enum http_end end)
{
	switch (end) {
	case HTTP_END_CONNECT_TIMEOUT:
	case HTTP_END_FIRST_BYTE_TIMEOUT:
	case HTTP_END_IDLE_TIMEOUT:
	case HTTP_END_DEADLINE:
		return LLM_ERROR_TIMEOUT;
	case HTTP_END_TOO_LARGE:
	case HTTP_END_STOPPED:
		return LLM_ERROR_PROTOCOL;
	case HTTP_END_BAD_URL:
		return LLM_ERROR_INVALID;
	case HTTP_END_DONE:
	case HTTP_END_NETWORK:
	case HTTP_END_CERTIFICATE:
	case HTTP_END_CANCELLED:
		break;
	}
	return LLM_ERROR_NETWORK;
}

/* The exchange itself failed, before or within the response. */
static void judge_end(struct attempt *a)
{
	const struct http_response *r = &a->response;
	const char *message = r->message[0] ? r->message : "the server's answer is too large";

	llm_error_set(&a->error, class_of_end(r->end), r->status, message);
	if (r->end == HTTP_END_DEADLINE || r->end == HTTP_END_TOO_LARGE ||
	    r->end == HTTP_END_CERTIFICATE)
		a->error.retryable = false;
}

/* What answers may not be the API at all. */
static void doubt_base_url(struct attempt *a)
{
	const char *base;

	/* Neither a password nor a query: keys are written there, too. */
	http_authority(a->call->client->base_url, &base);
	char *longer = mem_printf("%s: is the base URL (%.*s) right?",
				  a->error.message ? a->error.message : "no message",
				  (int)strcspn(base, "?#"), base);
	free(a->error.message);
	a->error.message = longer;
}

static bool is_object(const struct buf *body)
{
	size_t blank = strspn(body->data, " \t\r\n");

	return blank < body->len && body->data[blank] == '{';
}

static void judge_refusal(struct attempt *a)
{
	const struct http_response *r = &a->response;

	if (r->status >= 300 && r->status < 400) {
		char text[HTTP_HEADER_MAX + 128];

		snprintf(text, sizeof(text),
			 "the server redirects to %s, which is not "
			 "followed with a key: set the base URL to it",
			 r->location);
		llm_error_set(&a->error, LLM_ERROR_INVALID, r->status, text);
		return;
	}
	if (r->status == 407) {
		llm_error_set(&a->error, LLM_ERROR_INVALID, r->status,
			      "the proxy wants a name and a password, as in "
			      "HTTP_PROXY=http://NAME:PASSWORD@PROXY");
		return;
	}
	errors_classify(r->status, a->whole.data, a->whole.len, &a->error, &a->param);
	a->error.retryable =
		a->error.class != LLM_ERROR_QUOTA && retry_wanted(r, a->error.retryable);
	if ((r->status == 404 || r->status == 405) && !is_object(&a->whole))
		doubt_base_url(a);
}

static void take_decode_error(struct attempt *a)
{
	struct decode *d = &a->decode;

	llm_error_release(&a->error);
	a->error = d->error;
	d->error = (struct llm_error){ .class = LLM_ERROR_NONE };
	a->param = TAKE_PTR(d->error_param);
}

static void judge_stream(struct attempt *a)
{
	struct decode *d = &a->decode;

	decode_finish(d);
	if (d->failed) {
		take_decode_error(a);
	} else if (d->terminal) {
		a->answered = true;
	} else if (!d->ended && a->response.end != HTTP_END_DONE &&
		   a->response.end != HTTP_END_NETWORK) {
		judge_end(a);
	} else if (d->text.len > 0) {
		a->answered = true; /* with stop LLM_STOP_TRUNCATED */
	} else {
		llm_error_set(&a->error, LLM_ERROR_NETWORK, a->response.status,
			      "the stream was cut before any text came");
	}
}

static void judge_whole(struct attempt *a)
{
	if (a->response.end != HTTP_END_DONE) {
		judge_end(a);
		return;
	}
	decode_body(&a->decode, a->whole.data, a->whole.len);
	if (a->decode.failed) {
		take_decode_error(a);
		if (a->error.class == LLM_ERROR_PROTOCOL)
			doubt_base_url(a);
	} else if (a->decode.terminal || a->decode.text.len > 0) {
		a->answered = true;
	} else {
		const char *status = a->decode.raw_stop ? a->decode.raw_stop : "none";
		cleanup_free char *message =
			mem_printf("the server's answer is not complete (its status: %s)", status);

		llm_error_set(&a->error, LLM_ERROR_PROTOCOL, a->response.status, message);
	}
}

/* Turns what came into `answered` or an error. */
static void judge(struct attempt *a)
{
	a->cancelled = a->response.end == HTTP_END_CANCELLED;
	if (a->cancelled)
		decode_finish(&a->decode);
	else if (a->response.status == 0)
		judge_end(a);
	else if (!attempt_succeeded(a))
		judge_refusal(a);
	else if (a->mode == BODY_STREAM ||
		 (a->mode == BODY_UNKNOWN && choose_mode(a, "") == BODY_STREAM))
		judge_stream(a);
	else
		judge_whole(a);
}

static void exchange(struct attempt *a)
{
	struct call *c = a->call;
	struct client *client = c->client;
	cleanup_free char *text = json_print(c->body);
	cleanup_free char *url = target_url(client->base_url, client->wire->path, c->target.model);
	char *headers[TARGET_HEADERS_MAX];

	target_headers(client->kind, client->base_url, client->auth, client->key, headers);
	a->http = (struct http_request){
		.url = url,
		.headers = (const char *const *)headers,
		.ca_file = client->ca_file,
		.words = client->words,
		.body = text,
		.body_len = strlen(text),
		.connect_timeout_ms = client->connect_timeout_ms,
		.first_byte_timeout_ms = client->first_byte_timeout_ms,
		.idle_timeout_ms = client->idle_timeout_ms,
		.deadline_mono_ms = c->deadline_ms,
		.body_max_bytes = STREAM_MAX_BYTES,
		.cancel_fd = c->request->cancel_fd,
		.on_body = on_body,
		.self = a,
	};
	http_perform(client->http, &a->http, &a->response);
	target_headers_free(headers);
}

void attempt_run(struct attempt *a)
{
	exchange(a);
	judge(a);
}

void attempt_init(struct attempt *a, struct call *call)
{
	*a = (struct attempt){
		.call = call, .sink = { .text = on_text, .reasoning = on_reasoning, .self = call }
	};
	decode_init(&a->decode, &call->client->wire->responses, &a->sink);
	buf_init(&a->whole, ATTEMPT_BODY_MAX);
}

void attempt_release(struct attempt *a)
{
	decode_release(&a->decode);
	buf_release(&a->whole);
	llm_error_release(&a->error);
	free(a->param);
}
