/*
 * OpenAI Responses, as in platform.openai.com/docs/api-reference/responses. Pure; no state is
 * kept at the server, and a call of a tool is no reply.
 */
#include "llm/wire/wire.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* docs: Images and vision, "Responses". */
static void add_images(struct json *json, const struct llm_message *m)
{
	struct json *parts = json_array(), *part = wire_add_part(parts, "input_text");

	json_set_bytes(part, "text", m->content, strlen(m->content));
	for (size_t i = 0; i < m->image_count; i++) {
		cleanup_free char *url = wire_image_url(&m->images[i]);

		json_set_string(wire_add_part(parts, "input_image"), "image_url", url);
	}
	json_set(json, "content", parts);
}

static struct json *build(const struct llm_request *request, const char *model, bool official)
{
	struct json *body = json_object();
	cleanup_free char *system = wire_system(request);

	json_set_string(body, "model", model);
	if (system)
		json_set_bytes(body, "instructions", system, strlen(system));
	json_set(body, "input", wire_messages(request, false, add_images));
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
	d->usage.cached_tokens =
		json_get_int(json_get(usage, "input_tokens_details"), "cached_tokens", 0);
	d->usage.reasoning_tokens =
		json_get_int(json_get(usage, "output_tokens_details"), "reasoning_tokens", 0);
	d->usage.source = LLM_USAGE_REPORTED;
}

/*
 * Only a completed reply is done, and an incomplete one has met its limit. One
 * that is queued, in progress or cancelled holds what came so far: it is not
 * terminal, so it ends as cut. status is what the server says, else what its
 * event is called.
 */
static void take_status(struct decode *d, const struct json *response, const char *status)
{
	const char *said = json_get_string(response, "status");
	const char *reason = json_get_string(json_get(response, "incomplete_details"), "reason");

	status = said ? said : status;
	enum llm_stop stop = LLM_STOP_STOP;
	if (reason && !strcmp(reason, "content_filter"))
		stop = LLM_STOP_FILTER;
	else if (reason || (status && !strcmp(status, "incomplete")))
		stop = LLM_STOP_LENGTH;
	else if (status && !strcmp(status, "failed"))
		decode_failure(d, "the server says that the reply failed, and not why");
	decode_stop(d, reason ? reason : status, stop);
	d->terminal = stop != LLM_STOP_STOP || (status && !strcmp(status, "completed"));
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
static void take_end(struct decode *d, const struct json *value, const char *status)
{
	const struct json *response = json_get(value, "response");
	const struct json *output = json_get(response, "output");

	if (d->text.len == 0 && d->reasoning.len == 0 && d->think.held_len == 0)
		for (const struct json *i = json_first(output); i; i = json_next(i))
			take_item(d, i);
	decode_model(d, json_get_string(response, "model"));
	take_usage(d, json_get(response, "usage"));
	take_status(d, response, status);
	take_tools(d, response);
}

static void on_completed(struct decode *d, const struct json *value)
{
	take_end(d, value, "completed");
}

static void on_incomplete(struct decode *d, const struct json *value)
{
	take_end(d, value, "incomplete");
}

static void on_failed(struct decode *d, const struct json *value)
{
	const struct json *response = json_get(value, "response");

	take_usage(d, json_get(response, "usage"));
	if (json_type(json_get(response, "error")) != JSON_NULL)
		decode_error(d, response);
	else
		take_status(d, response, "failed");
}

static void event(struct decode *d, const struct json *value)
{
	static const struct wire_event table[] = {
		{ "response.output_text.delta", on_text },
		{ "response.refusal.delta", on_refusal },
		{ "response.reasoning_summary_text.delta", on_reasoning },
		{ "response.reasoning_text.delta", on_reasoning },
		{ "response.created", on_created },
		{ "response.completed", on_completed },
		{ "response.incomplete", on_incomplete },
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
	take_status(d, value, NULL);
	take_tools(d, value);
}

const struct wire wire_openai_responses = {
	.name = "openai-responses",
	.path = "/responses",
	.models_path = "/models",
	.build = build,
	.responses = { .framing = SSE_EVENTS, .event = event, .body = body },
};
