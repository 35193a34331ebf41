/*
 * Anthropic Messages, as in platform.claude.com/docs/en/api/messages: the request, and what an
 * event of the response means. Pure; unknown events are passed over.
 */
#include "llm/wire/wire.h"

#include "base/base64.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOKENS_DEFAULT 8192 /* the wire requires a number */

/*
 * What the calls of a run begin with alike is a block of its own, marked so that
 * it is kept for the next (docs: prompt caching; too short a block is ignored).
 */
static void add_system(struct json *body, const struct llm_request *request)
{
	struct json *blocks = json_array();

	for (size_t i = 0; i < request->message_count; i++) {
		const struct llm_message *m = &request->messages[i];

		if (strcmp(m->role, "system"))
			continue;
		struct json *block = json_object();
		json_set_string(block, "type", "text");
		json_set_bytes(block, "text", m->content, strlen(m->content));
		if (json_count(blocks) == 0) {
			struct json *control = json_object();
			json_set_string(control, "type", "ephemeral");
			json_set(block, "cache_control", control);
		}
		json_append(blocks, block);
	}
	json_set(body, "system", blocks);
}

/* docs: Vision. Images stand before the text. */
static void add_images(struct json *json, const struct llm_message *m)
{
	struct json *parts = json_array();

	for (size_t i = 0; i < m->image_count; i++) {
		cleanup_free char *data = base64_text(m->images[i].bytes, m->images[i].len);
		struct json *source = json_object();

		json_set_string(source, "type", "base64");
		json_set_string(source, "media_type", m->images[i].media_type);
		json_set_string(source, "data", data);
		json_set(wire_add_part(parts, "image"), "source", source);
	}
	json_set_bytes(wire_add_part(parts, "text"), "text", m->content, strlen(m->content));
	json_set(json, "content", parts);
}

static struct json *build(const struct llm_request *request, const char *model, bool official)
{
	struct json *body = json_object();
	bool shared = request->message_count > 1 && !strcmp(request->messages[1].role, "system");
	cleanup_free char *system = shared ? NULL : wire_system(request);

	(void)official;
	json_set_string(body, "model", model);
	json_set_int(body, "max_tokens",
		     request->max_tokens > 0 ? request->max_tokens : MAX_TOKENS_DEFAULT);
	if (system)
		json_set_bytes(body, "system", system, strlen(system));
	if (shared)
		add_system(body, request);
	json_set(body, "messages", wire_messages(request, false, add_images));
	if (!isnan(request->temperature))
		json_set_number(body, "temperature", request->temperature);
	if (request->stream)
		json_set_bool(body, "stream", true);
	wire_merge_options(body, request);
	return body;
}

/* Counts are cumulative, and a later report may leave members out. */
static void take_usage(struct decode *d, const struct json *usage, enum llm_usage_source source)
{
	int64_t input = json_get_int(usage, "input_tokens", -1);
	int64_t read = json_get_int(usage, "cache_read_input_tokens", 0);
	int64_t created = json_get_int(usage, "cache_creation_input_tokens", 0);
	const struct json *details = json_get(usage, "output_tokens_details");

	if (json_type(usage) != JSON_OBJECT)
		return;
	if (input >= 0) {
		d->usage.input_tokens = input + read + created;
		d->usage.cached_tokens = read;
	} else if (d->usage.source == LLM_USAGE_NONE) {
		d->usage.input_tokens = -1;
	}
	d->usage.output_tokens = json_get_int(usage, "output_tokens", d->usage.output_tokens);
	d->usage.reasoning_tokens =
		json_get_int(details, "thinking_tokens", d->usage.reasoning_tokens);
	d->usage.source = source;
}

static const struct wire_stop stops[] = {
	{ "end_turn", LLM_STOP_STOP },
	{ "stop_sequence", LLM_STOP_STOP },
	{ "max_tokens", LLM_STOP_LENGTH },
	{ "model_context_window_exceeded", LLM_STOP_LENGTH },
	{ "tool_use", LLM_STOP_TOOL },
	{ "pause_turn", LLM_STOP_TOOL }, /* a server-side tool is not done */
	{ "refusal", LLM_STOP_REFUSAL },
	{ NULL, LLM_STOP_STOP },
};

/* A content block, whole or as it starts; both may carry first text. */
static void take_block(struct decode *d, const struct json *block)
{
	if (wire_has_type(block, "text"))
		decode_text(d, json_get_string(block, "text"));
	else if (wire_has_type(block, "thinking"))
		decode_reasoning(d, json_get_string(block, "thinking"));
}

static void on_message_start(struct decode *d, const struct json *value)
{
	const struct json *message = json_get(value, "message");

	decode_model(d, json_get_string(message, "model"));
	take_usage(d, json_get(message, "usage"), LLM_USAGE_PARTIAL);
}

static void on_block_start(struct decode *d, const struct json *value)
{
	take_block(d, json_get(value, "content_block"));
}

static void on_block_delta(struct decode *d, const struct json *value)
{
	const struct json *delta = json_get(value, "delta");

	if (wire_has_type(delta, "text_delta"))
		decode_text(d, json_get_string(delta, "text"));
	else if (wire_has_type(delta, "thinking_delta"))
		decode_reasoning(d, json_get_string(delta, "thinking"));
}

static void on_message_delta(struct decode *d, const struct json *value)
{
	wire_take_stop(d, json_get_string(json_get(value, "delta"), "stop_reason"), stops);
	take_usage(d, json_get(value, "usage"), LLM_USAGE_REPORTED);
}

static void on_message_stop(struct decode *d, const struct json *value)
{
	(void)value;
	d->terminal = true;
}

static void on_error(struct decode *d, const struct json *value)
{
	decode_request_id(d, json_get_string(value, "request_id"));
	decode_error(d, value);
}

static void event(struct decode *d, const struct json *value)
{
	static const struct wire_event table[] = {
		{ "content_block_delta", on_block_delta },
		{ "content_block_start", on_block_start },
		{ "message_start", on_message_start },
		{ "message_delta", on_message_delta },
		{ "message_stop", on_message_stop },
		{ "error", on_error },
		{ NULL, NULL },
	};

	wire_take_event(d, value, table);
}

static void body(struct decode *d, const struct json *value)
{
	const struct json *content = json_get(value, "content");

	if (json_type(content) != JSON_ARRAY) {
		decode_protocol(d, "the answer has no \"content\"");
		return;
	}
	decode_model(d, json_get_string(value, "model"));
	for (const struct json *block = json_first(content); block; block = json_next(block))
		take_block(d, block);
	wire_take_stop(d, json_get_string(value, "stop_reason"), stops);
	take_usage(d, json_get(value, "usage"), LLM_USAGE_REPORTED);
	d->terminal = true;
}

const struct wire wire_anthropic = {
	.name = "anthropic-messages",
	.path = "/v1/messages",
	.models_path = "/v1/models?limit=1000",
	.build = build,
	.responses = { .framing = SSE_EVENTS, .event = event, .body = body },
};
