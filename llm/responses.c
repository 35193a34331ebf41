/* OpenAI Responses, as in platform.openai.com/docs/api-reference/responses. */
#include "llm/wire.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct json *build(const struct llm_request *request, const char *model, bool official)
{
	struct json *body = json_object();
	cleanup_free char *system = wire_system(request);

	json_set_string(body, "model", model);
	if (system)
		json_set_bytes(body, "instructions", system, strlen(system));
	json_set(body, "input", wire_messages(request, false));
	if (request->max_tokens > 0)
		json_set_int(body, "max_output_tokens", request->max_tokens);
	if (!isnan(request->temperature))
		json_set_number(body, "temperature", request->temperature);
	json_set_bool(body, "store", false);
	if (request->stream) {
		json_set_bool(body, "stream", true);
		if (official) {
			struct json *options = json_object();

			json_set_bool(options, "include_obfuscation", false);
			json_set(body, "stream_options", options);
		}
	}
	wire_merge_options(body, request);
	return body;
}

static void take_usage(struct decode *d, const struct json *usage)
{
	if (json_type(usage) != JSON_OBJECT)
		return;
	d->usage.input_tokens = json_get_int(usage, "input_tokens", -1);
	d->usage.output_tokens = json_get_int(usage, "output_tokens", -1);
	d->usage.cached_tokens = json_get_int(json_get(usage, "input_tokens_details"),
					      "cached_tokens", 0);
	d->usage.reasoning_tokens = json_get_int(json_get(usage, "output_tokens_details"),
						 "reasoning_tokens", 0);
	d->usage.source = LLM_USAGE_REPORTED;
}

static void take_status(struct decode *d, const struct json *response)
{
	const char *status = json_get_string(response, "status");
	const char *reason = json_get_string(json_get(response, "incomplete_details"), "reason");
	enum llm_stop stop = LLM_STOP_STOP;

	if (reason && strcmp(reason, "content_filter") == 0)
		stop = LLM_STOP_FILTER;
	else if (reason || (status && strcmp(status, "incomplete") == 0))
		stop = LLM_STOP_LENGTH;
	decode_stop(d, reason ? reason : status, stop);
}

static void take_item(struct decode *d, const struct json *item)
{
	const struct json *content = json_get(item, "content");
	const struct json *summary = json_get(item, "summary");

	for (const struct json *part = json_first(summary); part; part = json_next(part))
		decode_reasoning(d, json_get_string(part, "text"));
	for (const struct json *part = json_first(content); part; part = json_next(part)) {
		if (wire_has_type(part, "output_text"))
			decode_text(d, json_get_string(part, "text"));
		else if (wire_has_type(part, "refusal"))
			decode_refusal(d, json_get_string(part, "refusal"));
		else if (wire_has_type(part, "reasoning_text"))
			decode_reasoning(d, json_get_string(part, "text"));
	}
}

/* A call of a tool is an item of the output, not a stop reason, on this wire. */
static void take_tools(struct decode *d, const struct json *response)
{
	const struct json *output = json_get(response, "output");
	bool called = false, said = false;

	for (const struct json *item = json_first(output); item; item = json_next(item)) {
		called = called || wire_has_type(item, "function_call");
		said = said || wire_has_type(item, "message");
	}
	if (called && !said && d->stop == LLM_STOP_STOP)
		d->stop = LLM_STOP_TOOL;
}

static void on_text(struct decode *d, const struct json *value)
{
	decode_text(d, json_get_string(value, "delta"));
}

static void on_refusal(struct decode *d, const struct json *value)
{
	decode_refusal(d, json_get_string(value, "delta"));
}

static void on_reasoning(struct decode *d, const struct json *value)
{
	decode_reasoning(d, json_get_string(value, "delta"));
}

static void on_created(struct decode *d, const struct json *value)
{
	decode_model(d, json_get_string(json_get(value, "response"), "model"));
}

/* A server that streamed no deltas still sends the text in its terminal event. */
static void on_end(struct decode *d, const struct json *value)
{
	const struct json *response = json_get(value, "response");
	const struct json *output = json_get(response, "output");

	if (d->text.len == 0 && d->reasoning.len == 0 && d->think.held_len == 0)
		for (const struct json *i = json_first(output); i; i = json_next(i))
			take_item(d, i);
	decode_model(d, json_get_string(response, "model"));
	take_usage(d, json_get(response, "usage"));
	take_status(d, response);
	take_tools(d, response);
	d->terminal = true;
}

static void on_failed(struct decode *d, const struct json *value)
{
	take_usage(d, json_get(json_get(value, "response"), "usage"));
	decode_error(d, json_get(value, "response"));
}

static void event(struct decode *d, const struct json *value)
{
	static const struct wire_event table[] = {
		{ "response.output_text.delta", on_text },
		{ "response.refusal.delta", on_refusal },
		{ "response.reasoning_summary_text.delta", on_reasoning },
		{ "response.reasoning_text.delta", on_reasoning },
		{ "response.created", on_created },
		{ "response.completed", on_end },
		{ "response.incomplete", on_end },
		{ "response.failed", on_failed },
		{ "error", decode_error },
		{ NULL, NULL },
	};

	wire_take_event(d, value, table);
}

static void body(struct decode *d, const struct json *value)
{
	const struct json *output = json_get(value, "output");

	if (json_type(output) != JSON_ARRAY) {
		decode_protocol(d, "the answer has no \"output\"");
		return;
	}
	decode_model(d, json_get_string(value, "model"));
	for (const struct json *item = json_first(output); item; item = json_next(item))
		take_item(d, item);
	take_usage(d, json_get(value, "usage"));
	take_status(d, value);
	take_tools(d, value);
	d->terminal = true;
}

const struct wire wire_openai_responses = {
	.name = "openai-responses",
	.path = "/responses",
	.models_path = "/models",
	.framing = SSE_EVENTS,
	.build = build,
	.event = event,
	.body = body,
};
