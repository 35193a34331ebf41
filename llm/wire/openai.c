/*
 * OpenAI Chat Completions, and what other servers make of it. Follows
 * platform.openai.com/docs/api-reference/chat; additions of DeepSeek,
 * llama.cpp, vLLM, OpenRouter, Groq and Mistral are marked. Pure: no connection is known here.
 */
#include "llm/wire/wire.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

/* docs: Images and vision, "Chat Completions". */
static void add_images(struct json *json, const struct llm_message *m)
{
	struct json *parts = json_array(), *part = wire_add_part(parts, "text");

	json_set_bytes(part, "text", m->content, strlen(m->content));
	for (size_t i = 0; i < m->image_count; i++) {
		cleanup_free char *url = wire_image_url(&m->images[i]);
		struct json *image = json_object();

		json_set_string(image, "url", url);
		json_set(wire_add_part(parts, "image_url"), "image_url", image);
	}
	json_set(json, "content", parts);
}

static struct json *build(const struct llm_request *request, const char *model, bool official)
{
	struct json *body = json_object();

	json_set_string(body, "model", model);
	json_set(body, "messages", wire_messages(request, true, add_images));
	if (request->max_tokens > 0)
		json_set_int(body, "max_tokens", request->max_tokens);
	if (!isnan(request->temperature))
		json_set_number(body, "temperature", request->temperature);
	if (request->stream) {
		struct json *options = json_object();

		json_set_bool(options, "include_usage", true);
		if (official)
			json_set_bool(options, "include_obfuscation", false);
		json_set_bool(body, "stream", true);
		json_set(body, "stream_options", options);
	}
	wire_merge_options(body, request);
	return body;
}

static int64_t first_int(const struct json *object, const char *const *keys)
{
	for (; *keys; keys++) {
		int64_t n = json_get_int(object, *keys, -1);

		if (n >= 0)
			return n;
	}
	return 0;
}

static void take_usage(struct decode *d, const struct json *usage)
{
	static const char *const cached[] = { "prompt_cache_hit_tokens", /* DeepSeek */
					      "cached_tokens", "num_cached_tokens", NULL };
	const struct json *in = json_get(usage, "prompt_tokens_details");
	const struct json *out = json_get(usage, "completion_tokens_details");

	if (json_type(usage) != JSON_OBJECT || json_count(usage) == 0)
		return;
	d->usage.input_tokens = json_get_int(usage, "prompt_tokens", -1);
	d->usage.output_tokens = json_get_int(usage, "completion_tokens", -1);
	d->usage.cached_tokens = json_get_int(in, "cached_tokens", -1);
	if (d->usage.cached_tokens < 0)
		d->usage.cached_tokens = first_int(usage, cached);
	d->usage.reasoning_tokens = json_get_int(out, "reasoning_tokens", 0);
	/* Gemini and xAI leave reasoning out of completion_tokens, and bill it. */
	int64_t total = json_get_int(usage, "total_tokens", 0);
	if (d->usage.input_tokens >= 0 && d->usage.output_tokens >= 0 &&
	    total - d->usage.input_tokens > d->usage.output_tokens)
		d->usage.output_tokens = total - d->usage.input_tokens;
	d->usage.source = LLM_USAGE_REPORTED;
}

static const struct wire_stop stops[] = {
	{ "stop", LLM_STOP_STOP },
	{ "length", LLM_STOP_LENGTH },
	{ "tool_calls", LLM_STOP_TOOL },
	{ "function_call", LLM_STOP_TOOL },
	{ "content_filter", LLM_STOP_FILTER },
	{ NULL, LLM_STOP_STOP },
};

/* OpenRouter: [{"type":"reasoning.text","text":...}, {"summary":...}, {"data": sealed}] */
static void take_details(struct decode *d, const struct json *details)
{
	for (const struct json *part = json_first(details); part; part = json_next(part)) {
		decode_reasoning(d, json_get_string(part, "text"));
		decode_reasoning(d, json_get_string(part, "summary"));
	}
}

/* The same text under several names: the first that is there counts. */
static void take_reasoning(struct decode *d, const struct json *message)
{
	const char *text = json_get_string(message, "reasoning_content");

	if (!text || !*text)
		text = json_get_string(message, "reasoning");
	if (text && *text)
		decode_reasoning(d, text);
	else
		take_details(d, json_get(message, "reasoning_details"));
}

/* Mistral: [{"type":"thinking","thinking":[{"text":...}]}, {"type":"text","text":...}] */
static void take_parts(struct decode *d, const struct json *parts)
{
	for (const struct json *part = json_first(parts); part; part = json_next(part)) {
		const struct json *thinking = json_get(part, "thinking");

		decode_text(d, json_get_string(part, "text"));
		for (const struct json *t = json_first(thinking); t; t = json_next(t))
			decode_reasoning(d, json_get_string(t, "text"));
	}
}

/* A whole message and the delta of one have the same members. */
static void take_message(struct decode *d, const struct json *message)
{
	const struct json *content = json_get(message, "content");

	take_reasoning(d, message);
	if (json_type(content) == JSON_ARRAY)
		take_parts(d, content);
	else
		decode_text(d, json_string(content));
	decode_refusal(d, json_get_string(message, "refusal"));
}

static void take_common(struct decode *d, const struct json *value)
{
	decode_model(d, json_get_string(value, "model"));
	take_usage(d, json_get(value, "usage"));
	take_usage(d, json_get(json_get(value, "x_groq"), "usage"));
}

static void event(struct decode *d, const struct json *value)
{
	const struct json *choice = json_first(json_get(value, "choices"));

	if (json_type(json_get(value, "error")) != JSON_NULL) {
		decode_error(d, value);
		return;
	}
	take_common(d, value);
	/* Snowflake streams no finish_reason, but this count in a chunk of its own. */
	if (!choice && json_count(json_get(value, "usage")) > 0)
		d->counted = true;
	if (!choice || json_get_int(choice, "index", 0) != 0)
		return;
	take_message(d, json_get(choice, "delta"));
	wire_take_stop(d, json_get_string(choice, "finish_reason"), stops);
}

static void body(struct decode *d, const struct json *value)
{
	const struct json *choice = json_first(json_get(value, "choices"));

	if (!choice) {
		decode_protocol(d, "the answer has no \"choices\"");
		return;
	}
	take_common(d, value);
	take_message(d, json_get(choice, "message"));
	wire_take_stop(d, json_get_string(choice, "finish_reason"), stops);
	d->terminal = true;
}

const struct wire wire_openai_chat = {
	.name = "openai-chat",
	.path = "/chat/completions",
	.models_path = "/models",
	.build = build,
	.responses = { .framing = SSE_EVENTS, .event = event, .body = body },
};
