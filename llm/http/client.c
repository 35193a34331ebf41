/*
 * A model behind an HTTP API.
 *
 * A call makes one or more tries. A try is one exchange (base/http/http.h) whose
 * bytes go through one decoder (llm/wire/decode.h) and end as a verdict: answered,
 * or an error. Only a try that has given no text to the sink may be followed
 * by another, so that nothing is shown twice. A rejected parameter is repaired
 * at most once per call, outside the count of retries.
 */
#include "llm/llm.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "llm/http/attempt.h"
#include "llm/http/limits.h"
#include "llm/http/retry.h"
#include "llm/http/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_LEAST	      8 /* bytes of a key that is hidden in messages */
#define CONNECT_TIMEOUT_MS    10000
#define FIRST_BYTE_TIMEOUT_MS 300000 /* a reasoning model may think for minutes */
#define IDLE_TIMEOUT_MS	      120000
#define CALL_TIMEOUT_MS	      600000
#define TOKENS_MAX	      ((int64_t)1 << 40) /* no try takes more; a server may say so */
#define CUT_LEAST_BYTES	      6000		 /* fits the smallest window there is */
#define WHY_SHOWN	      160		 /* bytes of an error in a note */
#define REPLY_ESTIMATE	      512		 /* tokens, for the shared limits only */

static void tell(const struct call *c, const char *line)
{
	if (c->sink && c->sink->note)
		c->sink->note(c->sink->self, line);
}

static void on_tick(void *self, int64_t left_ms)
{
	const struct call *c = self;

	if (c->sink && c->sink->wait)
		c->sink->wait(c->sink->self, left_ms);
}

static void record_try(struct call *c, const struct http_response *r)
{
	struct llm_reply *reply = c->reply;

	reply->tries = mem_array(reply->tries, reply->try_count + 1, sizeof(*reply->tries));
	reply->tries[reply->try_count++] = (struct llm_try){
		.status = r->status,
		.curl = r->curl,
		.waited_ms = c->waited_ms,
	};
	c->waited_ms = 0;
}

/* A server may quote the key it was sent. */
/* Not a short one, which could be part of any word: as in the log. */
static void hide_key(char *message, const char *key)
{
	size_t len = key ? strlen(key) : 0;

	if (!message || len < KEY_LEAST)
		return;
	for (char *at = strstr(message, key); at; at = strstr(at + len, key))
		memset(at, '*', len);
}

/* What is known of all tries together, and what is not. */
static void settle_usage(struct call *c)
{
	bool known = c->spent.input_tokens > 0 || c->spent.output_tokens > 0;

	c->reply->usage = c->spent;
	c->reply->unmetered_tries = c->unmetered;
	if (c->unmetered == 0)
		c->reply->usage.source = c->billed > 0 ? LLM_USAGE_REPORTED : LLM_USAGE_NONE;
	else
		c->reply->usage.source = known ? LLM_USAGE_PARTIAL : LLM_USAGE_NONE;
}

/* What the try brought becomes the reply, whichever way it ended. */
static void settle(struct call *c, struct attempt *a)
{
	decode_into_reply(&a->decode, c->reply);
	settle_usage(c);
	if (!c->reply->request_id && a->response.request_id[0])
		c->reply->request_id = mem_strdup(a->response.request_id);
	if (a->cancelled)
		c->reply->stop = LLM_STOP_CANCELLED;
	if (a->answered || a->cancelled)
		return;
	c->reply->error = a->error;
	a->error = (struct llm_error){ .class = LLM_ERROR_NONE };
}

static bool try_repair(struct call *c, const struct attempt *a)
{
	if (c->repaired || c->text_given)
		return false;
	char *what =
		capability_repair(c->body, &c->target, &c->client->lessons, &a->error, a->param);
	if (!what)
		return false;
	c->repaired = true;
	tell(c, what);
	if (!c->reply->adapted)
		c->reply->adapted = json_array();
	json_append(c->reply->adapted, json_new_string(what));
	free(what);
	return true;
}

static void append_message(struct llm_error *error, const char *addition)
{
	char *longer =
		mem_printf("%s; %s", error->message ? error->message : "no message", addition);

	free(error->message);
	error->message = longer;
}

static void tell_retry(const struct call *c, const struct llm_error *error, int64_t ms)
{
	const char *why = error->message ? error->message : "";
	size_t shown = strlen(why) < WHY_SHOWN ? strlen(why) : utf8_valid_prefix(why, WHY_SHOWN);
	cleanup_free char *status =
		error->status > 0 ? mem_printf(", HTTP %ld", error->status) : mem_strdup("");
	cleanup_free char *line = mem_printf("%s%s: %.*s%s; retry %d of %d in %.1f s",
					     llm_error_class_name(error->class), status, (int)shown,
					     why, why[shown] ? "..." : "", c->retries_done + 1,
					     c->client->retries, (double)ms / 1e3);

	tell(c, line);
}

/*
 * Waits before the next try. False: there is to be none, because the error is
 * final, the tries are used up, or the wait would be too long (said in the
 * error) or was cancelled (a->cancelled).
 */
static bool wait_to_retry(struct call *c, struct attempt *a)
{
	if (!a->error.retryable || c->text_given || c->retries_done >= c->client->retries)
		return false;
	if (c->request->billed_max > 0 && c->billed >= c->request->billed_max) {
		append_message(&a->error, "another try might be billed beyond the budget");
		return false;
	}
	int64_t ms = retry_delay_ms(&a->response, c->retries_done, retry_jitter(), clock_wall_ms());
	if (ms > RETRY_CAP_MS || clock_mono_ms() + ms >= c->deadline_ms) {
		char line[160];

		snprintf(line, sizeof(line),
			 "the next try would be in %lld s, which is too long "
			 "to wait",
			 (long long)((ms + 999) / 1000));
		append_message(&a->error, line);
		return false;
	}
	tell_retry(c, &a->error, ms);
	a->cancelled = !retry_wait(ms, c->request->cancel_fd, on_tick, c);
	c->retries_done++;
	c->waited_ms = ms;
	return !a->cancelled;
}

/* --- what a try costs, and when it may start --- */

static int64_t sane(int64_t tokens)
{
	return tokens < 0 ? 0 : tokens < TOKENS_MAX ? tokens : TOKENS_MAX;
}

/* A request that went out and was not refused may have to be paid. */
static void account(struct attempt *a)
{
	struct call *c = a->call;
	const struct llm_usage *u = &a->decode.usage;
	int64_t input = sane(u->input_tokens), cached = sane(u->cached_tokens);

	if (!a->response.sent || (a->response.status != 0 && !attempt_succeeded(a)))
		return;
	c->billed++;
	c->unmetered += u->source != LLM_USAGE_REPORTED;
	c->spent.input_tokens += input;
	c->spent.cached_tokens += cached < input ? cached : input;
	c->spent.output_tokens += sane(u->output_tokens);
	c->spent.reasoning_tokens += sane(u->reasoning_tokens);
}

/* Waits until the batch as a whole may start one more; false: not any more. */
static bool enter(struct attempt *a)
{
	struct call *c = a->call;

	if (!c->client->limits)
		return true;
	bool told = false;
	int64_t ms;
	while ((ms = limits_enter(c->client->limits, clock_mono_ms(), c->estimate)) > 0) {
		if (clock_mono_ms() + ms >= c->deadline_ms) {
			llm_error_set(&a->error, LLM_ERROR_RATE_LIMIT, 0,
				      "the time for this call is up before the rate limit "
				      "lets it start");
			a->error.retryable = false;
			return false;
		}
		if (!told && ms >= 1000)
			tell(c, "waiting for the rate limit");
		told = told || ms >= 1000;
		ms += (int64_t)((double)ms * retry_jitter() / 4);
		c->waited_ms += ms;
		a->cancelled = !retry_wait(ms, c->request->cancel_fd, on_tick, c);
		if (a->cancelled)
			return false;
	}
	return true;
}

static void leave(struct attempt *a)
{
	struct call *c = a->call;
	const struct llm_usage *u = &a->decode.usage;
	bool refused =
		a->error.class == LLM_ERROR_RATE_LIMIT || a->error.class == LLM_ERROR_OVERLOADED;
	int64_t tokens = u->source == LLM_USAGE_REPORTED ?
				 sane(u->input_tokens) + sane(u->output_tokens) :
			 refused ? 0 :
				   c->estimate;

	if (c->client->limits)
		limits_done(c->client->limits, clock_mono_ms(),
			    refused	? LIMITS_REFUSED :
			    a->answered ? LIMITS_OK :
					  LIMITS_OTHER,
			    retry_hold_ms(&a->response, refused, c->estimate, clock_wall_ms()),
			    c->estimate, tokens);
}

/* Returns whether another try is to follow. */
static bool one_try(struct call *c)
{
	struct attempt a;

	attempt_init(&a, c);
	if (enter(&a)) {
		attempt_run(&a);
		hide_key(a.error.message, c->client->key);
		hide_key(a.error.code, c->client->key);
		record_try(c, &a.response);
		account(&a);
		leave(&a);
	}
	bool again = false;
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
	return llm_error_raise(&reply->error, c->client->provider, err);
}

static size_t prompt_bytes(const struct llm_request *request)
{
	size_t bytes = 0;

	for (size_t i = 0; i < request->message_count; i++)
		bytes += strlen(request->messages[i].content);
	return bytes;
}

static void write_body(struct call *c, const char *model)
{
	const struct client *client = c->client;
	const struct llm_request *request = c->request;
	struct json **notes = &c->reply->adapted;
	bool official = target_official(client->kind, client->base_url);

	c->target = (struct capability_target){
		.wire = client->kind,
		.quirks = client->quirks,
		.base_url = client->base_url,
		.model = model,
		.official = official || target_azure(client->base_url),
	};
	c->body = client->wire->build(request, model, official);
	capability_bound(c->body, request->max_tokens, request->options, notes);
	capability_apply(c->body, &c->target, &client->lessons, request->options, notes);
	for (const struct json *n = json_first(*notes); n; n = json_next(n))
		tell(c, json_string(n));
	c->estimate = (int64_t)prompt_bytes(request) / 4 + REPLY_ESTIMATE;
}

/*
 * No tokeniser makes 10 bytes of ordinary text one token: so few tokens mean
 * that the server read only a part. Or it filled its window to the brim.
 */
static void warn_if_cut(const struct call *c)
{
	const struct llm_usage *u = &c->reply->usage;
	int64_t window = json_get_int(json_get(c->body, "options"), "num_ctx", 0);
	size_t bytes = prompt_bytes(c->request);

	if (!(c->client->quirks & LLM_QUIRK_CUTS_CONTEXT) && c->client->kind != LLM_WIRE_OLLAMA)
		return;
	if (u->source != LLM_USAGE_REPORTED || u->input_tokens == 0 || bytes < CUT_LEAST_BYTES)
		return;
	if ((int64_t)bytes / 10 > u->input_tokens || (window > 0 && u->input_tokens >= window - 1))
		tell(c,
		     "the server seems to have cut the prompt to fit its context window: "
		     "a larger one is asked for with -o num_ctx=N (Ollama) or set on the server");
}

static int client_call(void *self, const struct llm_request *request, const struct llm_sink *sink,
		       struct llm_reply *ret_reply, struct error *err)
{
	struct client *client = self;
	const char *model = request->model ? request->model : client->model;
	struct call c = { .client = client,
			  .request = request,
			  .sink = sink,
			  .reply = ret_reply,
			  .start_ms = clock_mono_ms() };

	if (!model)
		return error_set(err, ERR_CONFIG, "%s: no model is named: use -m",
				 client->provider);
	if (!client->http)
		client->http = http_open(err);
	if (!client->http)
		return -1;
	c.deadline_ms =
		c.start_ms + (request->timeout_ms > 0 ? request->timeout_ms : CALL_TIMEOUT_MS);
	write_body(&c, model);
	while (one_try(&c))
		continue;
	warn_if_cut(&c);
	json_free(c.body);
	return conclude(&c, err);
}

static void client_free(void *self)
{
	struct client *client = self;

	http_close(client->http);
	capability_forget(&client->lessons);
	free(client->provider);
	free(client->base_url);
	free(client->auth);
	free(client->ca_file);
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
		return error_set(err, ERR_CONFIG,
				 "%s: the key contains a control character: "
				 "is there a line break in it?",
				 o->provider);
	if (has_control(o->auth))
		return error_set(err, ERR_CONFIG,
				 "%s: the header's name contains a control "
				 "character",
				 o->provider);
	if (has_control(o->base_url))
		return error_set(err, ERR_CONFIG, "%s: the base URL contains a control character",
				 o->provider);
	return 0;
}

int llm_http_open(struct llm *ret_llm, const struct llm_http_options *options, struct error *err)
{
	static const struct llm_ops ops = { .call = client_call, .free = client_free };
	const struct llm_http_options *o = options;

	if (check_options(o, err) < 0)
		return -1;
	struct client *client = mem_alloc(sizeof(*client));
	client->kind = o->wire;
	client->wire = wire_find(o->wire);
	client->provider = mem_strdup(o->provider);
	client->base_url = mem_strdup(o->base_url ? o->base_url : target_default_base(o->wire));
	client->auth = mem_strdup(o->auth);
	client->ca_file = mem_strdup(o->ca_file);
	client->words = o->words;
	client->quirks = o->quirks;
	client->limits = o->limits;
	client->key = o->key && *o->key ? mem_strdup(o->key) : NULL;
	client->model = mem_strdup(o->model);
	client->retries = o->retries;
	client->idle_timeout_ms = or_default(o->idle_timeout_ms, IDLE_TIMEOUT_MS);
	client->connect_timeout_ms = or_default(o->connect_timeout_ms, CONNECT_TIMEOUT_MS);
	client->first_byte_timeout_ms = or_default(o->first_byte_timeout_ms, FIRST_BYTE_TIMEOUT_MS);
	*ret_llm = (struct llm){ .ops = &ops, .self = client, .provider = client->provider };
	return 0;
}
