/*
 * assay log export --otel: runs as traces, in the JSON of OpenTelemetry's protocol (OTLP 1.x: ids
 * are hexadecimal, 64-bit numbers are strings), one request a line, as a collector's file receiver
 * reads them. A run is a span with a span for each call, execution and other stage below it; names
 * are those of the semantic conventions for generative AI, and what these have no name for begins
 * with "assay.". What was said is not in it: prompts, programs and outputs stay in the log.
 */
#include "agent/cli/log/log.h"
#include "agent/cli/log/moments.h"

#include "agent/status.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TRACE_ID_LEN 32
#define SPAN_ID_LEN  16
#define AGENT_NAME   "assay"

enum span_kind { SPAN_INTERNAL = 1, SPAN_CLIENT = 3 };
enum { STATUS_ERROR = 2 };

struct trace {
	const struct audit_row *row;
	struct moments moments;
	struct json *spans; /* filled */
	char trace_id[TRACE_ID_LEN + 1], root_id[SPAN_ID_LEN + 1];
};

struct span {
	struct json *object, *attributes;
};

/* --- attributes --- */

static void add(struct json *attributes, const char *key, const char *type, struct json *value)
{
	struct json *attribute = json_object(), *any = json_object();

	json_set(any, type, value);
	json_set_string(attribute, "key", key);
	json_set(attribute, "value", any);
	json_append(attributes, attribute);
}

static void add_text(struct json *attributes, const char *key, const char *text)
{
	if (text)
		add(attributes, key, "stringValue", json_new_string(text));
}

static void add_int(struct json *attributes, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	add(attributes, key, "intValue", json_new_string(text));
}

/* A member of data where it is a whole number. */
static void add_count(struct json *attributes, const char *key, const struct json *data,
		      const char *name)
{
	int64_t value = json_get_int(data, name, -1);

	if (value >= 0)
		add_int(attributes, key, value);
}

/* The conventions' name of whom assay calls otherwise. */
static const char *provider_name(const char *provider)
{
	static const char *const names[][2] = {
		{ "openai-responses", "openai" },     { "azure", "azure.ai.openai" },
		{ "azure-dated", "azure.ai.openai" }, { "gemini", "gcp.gemini" },
		{ "mistral", "mistral_ai" },
	};

	for (size_t i = 0; provider && i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i][0], provider))
			return names[i][1];
	return provider;
}

/* --- spans --- */

/* The same run has the same ids whenever it is exported. */
static void make_id(const char *of, int64_t seq, size_t len, char *ret)
{
	cleanup_free char *text = mem_printf("%s/%" PRId64, of, seq);
	char hash[HASH_HEX_LEN + 1];

	hash_sha256(text, strlen(text), hash);
	memcpy(ret, hash, len);
	ret[len] = '\0';
}

static void set_time(struct json *object, const char *key, int64_t at_ms)
{
	char text[32] = "0";

	if (at_ms > 0 && clock_is_date(at_ms))
		snprintf(text, sizeof(text), "%" PRId64 "000000", at_ms);
	json_set_string(object, key, text);
}

/* error: a class of failure, or NULL when there was none. */
static struct span open_span(const struct trace *t, const char *id, const char *name,
			     enum span_kind kind, const char *error)
{
	struct span span = { json_object(), json_array() };
	struct json *status = json_object();

	json_set_string(span.object, "traceId", t->trace_id);
	json_set_string(span.object, "spanId", id);
	json_set_string(span.object, "name", name);
	json_set_int(span.object, "kind", kind);
	if (error) {
		json_set_int(status, "code", STATUS_ERROR);
		add_text(span.attributes, "error.type", error);
	}
	json_set(span.object, "status", status);
	return span;
}

static void close_span(struct trace *t, struct span *span, int64_t from_ms, int64_t to_ms)
{
	set_time(span->object, "startTimeUnixNano", from_ms);
	set_time(span->object, "endTimeUnixNano", to_ms);
	json_set(span->object, "attributes", TAKE_PTR(span->attributes));
	json_append(t->spans, TAKE_PTR(span->object));
}

/* --- a run --- */

static void add_link(const struct span *span, const char *run)
{
	char trace_id[TRACE_ID_LEN + 1];
	struct json *links = json_array(), *link = json_object();

	make_id(run, -1, TRACE_ID_LEN, trace_id);
	char span_id[SPAN_ID_LEN + 1];
	make_id(run, 0, SPAN_ID_LEN, span_id);
	json_set_string(link, "traceId", trace_id);
	json_set_string(link, "spanId", span_id);
	json_append(links, link);
	json_set(span->object, "links", links);
}

static void add_run(struct trace *t)
{
	const struct audit_row *row = t->row;
	const char *status = log_status(row);
	bool good = !strcmp(status, run_status_name(RUN_SUCCESS));
	const size_t n = t->moments.count;
	int64_t last_ms = n ? t->moments.list[n - 1].at_ms : row->started_ms;
	struct span span = open_span(t, t->root_id, "invoke_agent " AGENT_NAME, SPAN_INTERNAL,
				     good ? NULL : status);
	struct json *a = span.attributes;

	add_text(a, "gen_ai.operation.name", "invoke_agent");
	add_text(a, "gen_ai.agent.name", AGENT_NAME);
	add_text(a, "gen_ai.provider.name", provider_name(row->provider));
	add_text(a, "gen_ai.request.model", row->model);
	add_text(a, "gen_ai.conversation.id", row->session);
	add_int(a, "gen_ai.usage.input_tokens", row->input_tokens);
	add_int(a, "gen_ai.usage.output_tokens", row->output_tokens);
	add_text(a, "assay.run", row->id);
	add_text(a, "assay.kind", row->kind);
	add_text(a, "assay.status", status);
	add_text(a, "assay.level", row->level);
	add_text(a, "assay.task", row->item);
	add_int(a, "assay.attempts", row->attempts);
	if (row->cost_micro_usd >= 0)
		add(a, "assay.cost_usd", "doubleValue",
		    json_new_number((double)row->cost_micro_usd / 1e6));
	if (row->replay_of)
		add_link(&span, row->replay_of);
	close_span(t, &span, row->started_ms, row->ended_ms ? row->ended_ms : last_ms);
}

/* --- its stages --- */

static void add_usage(struct json *a, const struct json *usage)
{
	const char *source = json_get_string(usage, "source");

	if (!source || !strcmp(source, "none"))
		return;
	add_count(a, "gen_ai.usage.input_tokens", usage, "input_tokens");
	add_count(a, "gen_ai.usage.output_tokens", usage, "output_tokens");
	add_count(a, "gen_ai.usage.cache_read.input_tokens", usage, "cached_tokens");
	add_count(a, "gen_ai.usage.reasoning.output_tokens", usage, "reasoning_tokens");
}

static void add_finish(struct json *a, const char *reason)
{
	struct json *list = json_object(), *values = json_array(), *one = json_object();

	json_set_string(one, "stringValue", reason);
	json_append(values, one);
	json_set(list, "values", values);
	add(a, "gen_ai.response.finish_reasons", "arrayValue", list);
}

static struct span open_call(const struct trace *t, const char *id, const struct json *start,
			     const struct json *data)
{
	const char *asked = json_get_string(start, "model"),
		   *reply = json_get_string(data, "model");
	const char *model = asked ? asked : t->row->model ? t->row->model : reply;
	const char *reason = json_get_string(data, "stop_reason");
	cleanup_free char *name = mem_printf("chat%s%s", model ? " " : "", model ? model : "");
	struct span span = open_span(t, id, name, SPAN_CLIENT,
				     json_get_string(json_get(data, "error"), "class"));

	add_text(span.attributes, "gen_ai.operation.name", "chat");
	add_text(span.attributes, "gen_ai.provider.name", provider_name(t->row->provider));
	add_text(span.attributes, "gen_ai.request.model", model);
	add_text(span.attributes, "gen_ai.response.model", reply);
	add_text(span.attributes, "gen_ai.conversation.id", t->row->session);
	add_count(span.attributes, "gen_ai.request.max_tokens", start, "max_tokens");
	if (reason)
		add_finish(span.attributes, reason);
	add_usage(span.attributes, json_get(data, "usage"));
	add_text(span.attributes, "assay.request_id", json_get_string(data, "request_id"));
	add_count(span.attributes, "assay.first_token_ms", data, "first_token_ms");
	return span;
}

static struct span open_execution(const struct trace *t, const char *id, const struct json *start,
				  const struct json *data)
{
	const char *language = json_get_string(json_get(data, "environment"), "language");
	const char *tool = language ? language : json_get_string(start, "language");
	const char *outcome = json_get_string(data, "outcome");
	const char *failure = json_get_string(json_get(data, "error"), "class");
	bool failed = failure && strcmp(failure, "none");
	cleanup_free char *name = mem_printf("execute_tool %s", tool ? tool : "code");
	struct span span = open_span(t, id, name, SPAN_INTERNAL, failed ? failure : NULL);

	add_text(span.attributes, "gen_ai.operation.name", "execute_tool");
	add_text(span.attributes, "gen_ai.tool.name", tool ? tool : "code");
	add_text(span.attributes, "gen_ai.tool.type", "function");
	add_text(span.attributes, "assay.outcome", outcome);
	add_count(span.attributes, "assay.exit_code", data, "exit_code");
	add_count(span.attributes, "assay.peak_memory_bytes", json_get(data, "metrics"),
		  "peak_memory_bytes");
	return span;
}

static struct span open_stage(const struct trace *t, const char *id, const struct moment *m)
{
	struct span span = open_span(t, id, m->stage, SPAN_INTERNAL, NULL);

	add_text(span.attributes, "assay.verdict", json_get_string(m->data, "verdict"));
	add_text(span.attributes, "assay.level", json_get_string(m->data, "level"));
	return span;
}

/* What ended at index. A call has a reason to stop (null when it failed), an execution an outcome.
 */
static void add_moment(struct trace *t, size_t index)
{
	const struct moment *m = &t->moments.list[index];
	const struct moment *began = moments_start(&t->moments, index);
	const struct json *start = began ? began->data : NULL;
	char id[SPAN_ID_LEN + 1];

	make_id(t->row->id, m->seq, SPAN_ID_LEN, id);
	struct span span;
	if (json_get(m->data, "stop_reason"))
		span = open_call(t, id, start, m->data);
	else if (json_get(m->data, "outcome"))
		span = open_execution(t, id, start, m->data);
	else
		span = open_stage(t, id, m);
	json_set_string(span.object, "parentSpanId", t->root_id);
	add_text(span.attributes, "assay.stage", m->stage);
	if (m->attempt > 0)
		add_int(span.attributes, "assay.attempt", m->attempt);
	close_span(t, &span, began ? began->at_ms : m->at_ms, m->at_ms);
}

/* --- the request --- */

/* One resource, one scope, the spans. */
static struct json *request(struct json *spans)
{
	struct json *object = json_object(), *resources = json_array(), *resource = json_object();
	struct json *entry = json_object(), *scopes = json_array(), *scope = json_object();
	struct json *attributes = json_array(), *inner = json_object();

	add_text(attributes, "service.name", AGENT_NAME);
	add_text(attributes, "service.version", ASSAY_VERSION);
	json_set(resource, "attributes", attributes);
	json_set(entry, "resource", resource);
	json_set_string(inner, "name", AGENT_NAME);
	json_set_string(inner, "version", ASSAY_VERSION);
	json_set(scope, "scope", inner);
	json_set(scope, "spans", spans);
	json_append(scopes, scope);
	json_set(entry, "scopeSpans", scopes);
	json_append(resources, entry);
	json_set(object, "resourceSpans", resources);
	return object;
}

struct json *log_trace_json(struct audit *audit, const struct audit_row *row, struct error *err)
{
	struct trace t = { .row = row };

	if (moments_load(&t.moments, audit, row->id, err) < 0) {
		moments_release(&t.moments);
		return NULL;
	}
	t.spans = json_array();
	make_id(row->id, -1, TRACE_ID_LEN, t.trace_id);
	make_id(row->id, 0, SPAN_ID_LEN, t.root_id);
	add_run(&t);
	for (size_t i = 0; i < t.moments.count; i++)
		if (!moment_is_start(&t.moments.list[i]))
			add_moment(&t, i);
	moments_release(&t.moments);
	return request(t.spans);
}
