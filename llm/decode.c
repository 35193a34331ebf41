#include "llm/decode.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "llm/errors.h"
#include "llm/wire.h"

#include <stdlib.h>
#include <string.h>

static void add(struct decode *d, struct buf *to, const char *bytes, size_t len)
{
	if (buf_add(to, bytes, len) < 0)
		decode_protocol(d, "the reply is larger than 32 MiB");
}

static void take_piece(void *self, bool reasoning, const char *bytes, size_t len)
{
	struct decode *d = self;
	const struct llm_sink *sink = d->sink;

	if (d->failed)
		return;
	add(d, reasoning ? &d->reasoning : &d->text, bytes, len);
	if (!sink)
		return;
	if (reasoning && sink->reasoning)
		sink->reasoning(sink->self, bytes, len);
	else if (!reasoning && sink->text)
		sink->text(sink->self, bytes, len);
}

/*
 * cJSON-strictness is for our own files. A server may split a surrogate pair
 * over two events or send a NUL: such an escape becomes U+FFFD (same length,
 * so in place), and the rest of the reply survives.
 */
static void blunt_escapes(char *text, size_t len)
{
	for (size_t i = 0; i + 5 < len; i++) {
		unsigned int unit;
		char hex[5] = { 0 };

		if (text[i] != '\\')
			continue;
		if (text[i + 1] != 'u') {
			i++;
			continue;
		}
		memcpy(hex, text + i + 2, 4);
		unit = (unsigned int)strtoul(hex, NULL, 16);
		if (unit >= 0xd800 && unit <= 0xdbff && i + 11 < len &&
		    text[i + 6] == '\\' && text[i + 7] == 'u' &&
		    strchr("dD", text[i + 8]) && strchr("cdefCDEF", text[i + 9])) {
			i += 11;
			continue;
		}
		if (unit == 0 || (unit >= 0xd800 && unit <= 0xdfff))
			memcpy(text + i + 2, "fffd", 4);
		i += 5;
	}
}

static struct json *parse(const char *bytes, size_t len)
{
	struct error err = ERROR_INIT;
	struct json *value = json_parse(bytes, len, JSON_BIG_AS_STRING, &err);
	struct buf repaired = BUF_INIT(DECODE_EVENT_MAX * 3);

	if (value)
		return value;
	if (utf8_repair(&repaired, bytes, len) == 0) {
		blunt_escapes(repaired.data, repaired.len);
		value = json_parse(repaired.data, repaired.len, JSON_BIG_AS_STRING, &err);
	}
	buf_release(&repaired);
	return value;
}

static void take_event(void *self, const char *data, size_t len, bool tail)
{
	struct decode *d = self;
	struct json *value;

	if (d->failed || len == 0)
		return;
	if (len == 6 && memcmp(data, "[DONE]", 6) == 0) {
		d->terminal = true;
		return;
	}
	value = parse(data, len);
	if (value)
		d->wire->event(d, value);
	else if (!tail) /* a broken tail is where the stream was cut */
		decode_protocol(d, "an event of the stream is not JSON");
	json_free(value);
}

void decode_init(struct decode *d, const struct wire *wire, const struct llm_sink *sink)
{
	*d = (struct decode){ .wire = wire, .sink = sink, .stop = LLM_STOP_STOP,
			      .think = { .piece = take_piece, .self = d } };
	buf_init(&d->text, DECODE_TEXT_MAX);
	buf_init(&d->reasoning, DECODE_TEXT_MAX);
	sse_init(&d->sse, wire ? wire->framing : SSE_LINES, DECODE_EVENT_MAX, take_event, d);
}

void decode_release(struct decode *d)
{
	buf_release(&d->text);
	buf_release(&d->reasoning);
	sse_release(&d->sse);
	free(d->raw_stop);
	free(d->model);
	free(d->request_id);
	free(d->error_param);
	errors_release(&d->error);
}

int decode_feed(struct decode *d, const char *bytes, size_t len)
{
	if (!d->failed && sse_feed(&d->sse, bytes, len) < 0)
		decode_protocol(d, "an event of the stream is larger than 32 MiB");
	return d->failed ? -1 : 0;
}

/* The text before a closing tag that was never opened was reasoning after all. */
static void split_closing_only(struct decode *d)
{
	size_t end, start;

	if (d->think.state != THINK_TEXT ||
	    !think_closing_only(d->text.data, d->text.len, &end, &start))
		return;
	add(d, &d->reasoning, d->text.data, end);
	buf_consume(&d->text, start);
}

void decode_finish(struct decode *d)
{
	if (!d->failed && sse_finish(&d->sse) < 0)
		decode_protocol(d, "an event of the stream is larger than 32 MiB");
	think_finish(&d->think);
	split_closing_only(d);
	if (d->terminal) {
		if (d->refused && d->stop == LLM_STOP_STOP)
			d->stop = LLM_STOP_REFUSAL;
		return;
	}
	d->stop = LLM_STOP_TRUNCATED;
	if (d->usage.source == LLM_USAGE_REPORTED)
		d->usage.source = LLM_USAGE_PARTIAL;
}

static bool is_html(const char *bytes, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", bytes[i]) && bytes[i] != '\0')
		i++;
	return i < len && bytes[i] == '<';
}

void decode_body(struct decode *d, const char *bytes, size_t len)
{
	struct json *value = parse(bytes, len);

	if (value && json_type(value) == JSON_OBJECT) {
		if (json_type(json_get(value, "error")) != JSON_NULL)
			decode_error(d, value);
		else
			d->wire->body(d, value);
	} else if (value && json_type(value) == JSON_ARRAY) {
		decode_error(d, value);
	} else {
		decode_protocol(d, is_html(bytes, len) ?
				"the server answered with a web page, not with the API's JSON: "
				"is the base URL right?" :
				len == 0 ? "the server's answer is empty" :
				"the server's answer is not JSON");
	}
	json_free(value);
	decode_finish(d);
}

static void move_string(char **to, char **from)
{
	if (!*from)
		return;
	free(*to);
	*to = TAKE_PTR(*from);
}

void decode_into_reply(struct decode *d, struct llm_reply *ret)
{
	free(ret->text);
	ret->text = buf_take(&d->text, &ret->text_len);
	free(ret->reasoning);
	ret->reasoning = d->reasoning.len > 0 ? buf_take(&d->reasoning, NULL) : NULL;
	ret->stop = d->stop;
	move_string(&ret->raw_stop, &d->raw_stop);
	move_string(&ret->model, &d->model);
	move_string(&ret->request_id, &d->request_id);
	ret->usage = d->usage;
	errors_release(&ret->error);
	ret->error = d->error;
	d->error = (struct llm_error){ .class = LLM_ERROR_NONE };
}

void decode_text_bytes(struct decode *d, const char *bytes, size_t len)
{
	think_feed(&d->think, bytes, len);
}

void decode_text(struct decode *d, const char *text)
{
	if (text)
		think_feed(&d->think, text, strlen(text));
}

void decode_reasoning(struct decode *d, const char *text)
{
	if (text && *text)
		take_piece(d, true, text, strlen(text));
}

void decode_refusal(struct decode *d, const char *text)
{
	if (!text || !*text)
		return;
	d->refused = true;
	decode_text(d, text);
}

static void set_string(char **to, const char *value)
{
	if (!value || !*value || (*to && strcmp(*to, value) == 0))
		return;
	free(*to);
	*to = mem_strdup(value);
}

void decode_stop(struct decode *d, const char *raw, enum llm_stop stop)
{
	set_string(&d->raw_stop, raw);
	d->stop = stop;
}

void decode_model(struct decode *d, const char *model)
{
	set_string(&d->model, model);
}

void decode_request_id(struct decode *d, const char *id)
{
	set_string(&d->request_id, id);
}

void decode_error(struct decode *d, const struct json *value)
{
	if (d->failed)
		return;
	d->failed = true;
	errors_classify_json(200, value, &d->error, &d->error_param);
}

void decode_protocol(struct decode *d, const char *message)
{
	if (d->failed)
		return;
	d->failed = true;
	errors_set(&d->error, LLM_ERROR_PROTOCOL, 200, message);
}
