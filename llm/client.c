/*
 * A model behind an HTTP API.
 *
 * A call makes one or more tries. A try is one exchange (llm/http.h) whose
 * bytes go through one decoder (llm/decode.h) and end as a verdict: answered,
 * or an error. Only a try that has given no text to the sink may be followed
 * by another, so that nothing is shown twice. A rejected parameter is repaired
 * at most once per call, outside the count of retries.
 */
#include "llm/llm.h"

#include "base/clock.h"
#include "base/mem.h"
#include "llm/decode.h"
#include "llm/errors.h"
#include "llm/http.h"
#include "llm/repair.h"
#include "llm/retry.h"
#include "llm/target.h"
#include "llm/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONNECT_TIMEOUT_MS 10000
#define FIRST_BYTE_TIMEOUT_MS 300000	/* a reasoning model may think for minutes */
#define IDLE_TIMEOUT_MS 120000
#define CALL_TIMEOUT_MS 600000
#define LINGER_MS 1000			/* for the end of a stream after its last event */
#define STREAM_MAX_BYTES ((size_t)256 << 20)
#define BODY_MAX_BYTES ((size_t)64 << 20)

struct client {
	enum llm_wire kind;
	const struct wire *wire;
	struct http *http;	/* opened by the first call */
	char *provider, *base_url, *key, *model;
	int retries;
	int64_t idle_timeout_ms, connect_timeout_ms, first_byte_timeout_ms;
};

/* One call while it runs. */
struct call {
	struct client *client;
	const struct llm_request *request;
	const struct llm_sink *sink;	/* the caller's, may be NULL */
	struct llm_reply *reply;
	struct json *body;
	int64_t start_ms, deadline_ms;	/* monotonic */
	int64_t waited_ms;		/* before the coming try */
	int retries_done;
	bool repaired;
	bool text_given;		/* the sink has seen text */
};

enum body_mode { BODY_UNKNOWN, BODY_STREAM, BODY_WHOLE };

/* One try while it runs. */
struct attempt {
	struct call *call;
	struct http_request http;
	struct http_response response;
	struct decode decode;
	enum body_mode mode;
	struct buf whole;
	bool cancelled;
	bool answered;
	struct llm_error error;
	char *param;		/* the rejected parameter, or NULL */
};

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

static void note(const struct call *c, const char *line)
{
	if (c->sink && c->sink->note)
		c->sink->note(c->sink->self, line);
}

static bool is_success(long status)
{
	return status >= 200 && status < 300;
}

/* What a body is, by its type and first byte: servers mix up both. */
static enum body_mode choose_mode(const struct attempt *a, const char *bytes)
{
	const char *type = a->response.content_type;

	if (!is_success(a->response.status))
		return BODY_WHOLE;
	if (strcasestr(type, "event-stream") || strcasestr(type, "ndjson"))
		return BODY_STREAM;
	if (!a->call->request->stream || strcasestr(type, "json") || strcasestr(type, "html"))
		return BODY_WHOLE;
	if (a->call->client->wire->framing == SSE_LINES)
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
	if (a->decode.terminal)
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

	errors_set(&a->error, class_of_end(r->end), r->status, message);
	if (r->end == HTTP_END_DEADLINE || r->end == HTTP_END_TOO_LARGE ||
	    r->end == HTTP_END_CERTIFICATE)
		a->error.retryable = false;
}

static void judge_refusal(struct attempt *a)
{
	const struct http_response *r = &a->response;
	char text[HTTP_HEADER_MAX + 128];

	if (r->status >= 300 && r->status < 400) {
		snprintf(text, sizeof(text), "the server redirects to %s, which is not "
			 "followed with a key: set the base URL to it", r->location);
		errors_set(&a->error, LLM_ERROR_INVALID, r->status, text);
		return;
	}
	errors_classify(r->status, a->whole.data, a->whole.len, &a->error, &a->param);
	a->error.retryable = a->error.class != LLM_ERROR_QUOTA &&
			     retry_wanted(r, a->error.retryable);
}

static void take_decode_error(struct attempt *a)
{
	struct decode *d = &a->decode;

	errors_release(&a->error);
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
	} else if (a->response.end != HTTP_END_DONE && a->response.end != HTTP_END_NETWORK) {
		judge_end(a);
	} else if (d->text.len > 0) {
		a->answered = true;	/* with stop LLM_STOP_TRUNCATED */
	} else {
		errors_set(&a->error, LLM_ERROR_NETWORK, a->response.status,
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
	if (a->decode.failed)
		take_decode_error(a);
	else
		a->answered = true;
}

/* Turns what came into `answered` or an error. */
static void judge(struct attempt *a)
{
	a->cancelled = a->response.end == HTTP_END_CANCELLED;
	if (a->cancelled)
		decode_finish(&a->decode);
	else if (a->response.status == 0)
		judge_end(a);
	else if (!is_success(a->response.status))
		judge_refusal(a);
	else if (a->mode == BODY_STREAM ||
		 (a->mode == BODY_UNKNOWN && choose_mode(a, "") == BODY_STREAM))
		judge_stream(a);
	else
		judge_whole(a);
}

static void record_try(struct call *c, const struct http_response *r)
{
	struct llm_reply *reply = c->reply;

	reply->tries = mem_array(reply->tries, reply->try_count + 1, sizeof(*reply->tries));
	reply->tries[reply->try_count++] = (struct llm_try){
		.status = r->status, .curl = r->curl, .waited_ms = c->waited_ms,
	};
	c->waited_ms = 0;
}

static void exchange(struct attempt *a)
{
	struct call *c = a->call;
	struct client *client = c->client;
	cleanup_free char *text = json_print(c->body);
	cleanup_free char *url = target_url(client->base_url, client->wire->path);
	char *headers[TARGET_HEADERS_MAX];

	target_headers(client->kind, client->base_url, client->key, headers);
	a->http = (struct http_request){
		.url = url, .headers = (const char *const *)headers,
		.body = text, .body_len = strlen(text),
		.connect_timeout_ms = client->connect_timeout_ms,
		.first_byte_timeout_ms = client->first_byte_timeout_ms,
		.idle_timeout_ms = client->idle_timeout_ms,
		.deadline_mono_ms = c->deadline_ms,
		.body_max_bytes = STREAM_MAX_BYTES,
		.cancel_fd = c->request->cancel_fd,
		.on_body = on_body, .self = a,
	};
	http_perform(client->http, &a->http, &a->response);
	target_headers_free(headers);
}

static void attempt_release(struct attempt *a)
{
	decode_release(&a->decode);
	buf_release(&a->whole);
	errors_release(&a->error);
	free(a->param);
}

/* A server may quote the key it was sent. */
static void hide_key(char *message, const char *key)
{
	size_t len = key ? strlen(key) : 0;
	char *at;

	if (!message || len == 0)
		return;
	for (at = strstr(message, key); at; at = strstr(at + len, key))
		memset(at, '*', len);
}

/* What the try brought becomes the reply, whichever way it ended. */
static void settle(struct call *c, struct attempt *a)
{
	decode_into_reply(&a->decode, c->reply);
	if (!c->reply->request_id && a->response.request_id[0])
		c->reply->request_id = mem_strdup(a->response.request_id);
	if (a->cancelled)
		c->reply->stop = LLM_STOP_CANCELLED;
	if (a->answered || a->cancelled)
		return;
	hide_key(a->error.message, c->client->key);
	hide_key(a->error.code, c->client->key);
	c->reply->error = a->error;
	a->error = (struct llm_error){ .class = LLM_ERROR_NONE };
}

static bool try_repair(struct call *c, const struct attempt *a)
{
	char *what;

	if (c->repaired || c->text_given)
		return false;
	what = repair_body(c->body, &a->error, a->param);
	if (!what)
		return false;
	c->repaired = true;
	note(c, what);
	free(what);
	return true;
}

static void append_message(struct llm_error *error, const char *addition)
{
	char *longer = mem_printf("%s; %s", error->message ? error->message : "no message",
				  addition);

	free(error->message);
	error->message = longer;
}

static void note_retry(const struct call *c, const struct llm_error *error, int64_t ms)
{
	char line[160], status[32] = "";

	if (error->status > 0)
		snprintf(status, sizeof(status), ", HTTP %ld", error->status);
	snprintf(line, sizeof(line), "retrying in %.1f s (%s%s), retry %d of %d",
		 (double)ms / 1e3, llm_error_class_name(error->class), status,
		 c->retries_done + 1, c->client->retries);
	note(c, line);
}

/*
 * Waits before the next try. False: there is to be none, because the error is
 * final, the tries are used up, or the wait would be too long (said in the
 * error) or was cancelled (a->cancelled).
 */
static bool wait_to_retry(struct call *c, struct attempt *a)
{
	char line[160];
	int64_t ms;

	if (!a->error.retryable || c->text_given || c->retries_done >= c->client->retries)
		return false;
	ms = retry_delay_ms(&a->response, c->retries_done, retry_jitter(), clock_wall_ms());
	if (ms > RETRY_CAP_MS || clock_mono_ms() + ms >= c->deadline_ms) {
		snprintf(line, sizeof(line), "the next try would be in %lld s, which is too long "
			 "to wait", (long long)((ms + 999) / 1000));
		append_message(&a->error, line);
		return false;
	}
	note_retry(c, &a->error, ms);
	a->cancelled = !retry_wait(ms, c->request->cancel_fd);
	c->retries_done++;
	c->waited_ms = ms;
	return !a->cancelled;
}

/* Returns whether another try is to follow. */
static bool one_try(struct call *c)
{
	const struct llm_sink sink = { .text = on_text, .reasoning = on_reasoning, .self = c };
	struct attempt a = { .call = c };
	bool again = false;

	decode_init(&a.decode, c->client->wire, &sink);
	buf_init(&a.whole, BODY_MAX_BYTES);
	exchange(&a);
	record_try(c, &a.response);
	judge(&a);
	if (!a.answered && !a.cancelled)
		again = try_repair(c, &a) || wait_to_retry(c, &a);
	if (!again)
		settle(c, &a);
	attempt_release(&a);
	return again;
}

static int conclude(const struct call *c, struct error *err)
{
	const struct llm_reply *reply = c->reply;

	if (reply->stop == LLM_STOP_CANCELLED)
		return error_set(err, ERR_CANCELLED, "%s: cancelled", c->client->provider);
	if (reply->error.class == LLM_ERROR_NONE)
		return 0;
	return errors_raise(&reply->error, c->client->provider, err);
}

static int client_call(void *self, const struct llm_request *request,
		       const struct llm_sink *sink, struct llm_reply *ret_reply,
		       struct error *err)
{
	struct client *client = self;
	const char *model = request->model ? request->model : client->model;
	struct call c = { .client = client, .request = request, .sink = sink,
			  .reply = ret_reply, .start_ms = clock_mono_ms() };

	if (!model)
		return error_set(err, ERR_CONFIG, "%s: no model is named: use -m",
				 client->provider);
	if (!client->http)
		client->http = http_open(err);
	if (!client->http)
		return -1;
	c.deadline_ms = c.start_ms + (request->timeout_ms > 0 ? request->timeout_ms :
							      CALL_TIMEOUT_MS);
	c.body = client->wire->build(request, model,
				     target_official(client->kind, client->base_url));
	while (one_try(&c))
		continue;
	json_free(c.body);
	return conclude(&c, err);
}

static void client_free(void *self)
{
	struct client *client = self;

	http_close(client->http);
	free(client->provider);
	free(client->base_url);
	free(client->model);
	if (client->key)
		explicit_bzero(client->key, strlen(client->key));
	free(client->key);
	free(client);
}

static int64_t or_default(int64_t ms, int64_t otherwise_ms)
{
	return ms > 0 ? ms : otherwise_ms;
}

static bool has_control(const char *s)
{
	for (; s && *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

/* A line break in any of these would become a header of its own. */
static int check_options(const struct llm_http_options *o, struct error *err)
{
	if (has_control(o->key))
		return error_set(err, ERR_CONFIG, "%s: the key contains a control character: "
				 "is there a line break in it?", o->provider);
	if (has_control(o->base_url))
		return error_set(err, ERR_CONFIG, "%s: the base URL contains a control character",
				 o->provider);
	return 0;
}

int llm_http_open(struct llm *ret_llm, const struct llm_http_options *options,
		  struct error *err)
{
	static const struct llm_ops ops = { .call = client_call, .free = client_free };
	const struct llm_http_options *o = options;
	struct client *client;

	if (check_options(o, err) < 0)
		return -1;
	client = mem_alloc(sizeof(*client));
	client->kind = o->wire;
	client->wire = wire_find(o->wire);
	client->provider = mem_strdup(o->provider);
	client->base_url = mem_strdup(o->base_url ? o->base_url : target_default_base(o->wire));
	client->key = o->key && *o->key ? mem_strdup(o->key) : NULL;
	client->model = mem_strdup(o->model);
	client->retries = o->retries;
	client->idle_timeout_ms = or_default(o->idle_timeout_ms, IDLE_TIMEOUT_MS);
	client->connect_timeout_ms = or_default(o->connect_timeout_ms, CONNECT_TIMEOUT_MS);
	client->first_byte_timeout_ms = or_default(o->first_byte_timeout_ms,
						   FIRST_BYTE_TIMEOUT_MS);
	*ret_llm = (struct llm){ .ops = &ops, .self = client, .provider = client->provider };
	return 0;
}
