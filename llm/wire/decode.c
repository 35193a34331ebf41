/*
 * From bytes to the parts of a reply, by the rules of the wire that it is given. It does no I/O;
 * what breaks the rules is an error with the text so far, not a guess.
 */
#include "llm/wire/decode.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "llm/wire/errors.h"
#include "llm/wire/surrogate.h"

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
 * Strictness is for our own files: from a server what can be read is read. Of a
 * key given twice the first counts, as the reply is the server's to garble.
 */
#define LENIENT (JSON_BIG_AS_STRING | JSON_FIRST_OF_TWINS)

/* Mends halves of a character (llm/wire/surrogate.h), NULs and broken UTF-8. */
static struct json *parse_mended(struct decode *d, const char *bytes, size_t len)
{
	struct buf repaired = BUF_INIT(DECODE_EVENT_MAX * 3);
	struct buf carried = BUF_INIT(DECODE_EVENT_MAX * 3);
	struct error err = ERROR_INIT;
	struct json *value = NULL;

	if (utf8_repair(&repaired, bytes, len) == 0) {
		d->halves = surrogate_carry(&carried, repaired.data, repaired.len);
		value = json_parse(carried.data, carried.len, LENIENT, &err);
	}
	buf_release(&repaired);
	buf_release(&carried);
	return value;
}

static struct json *parse(struct decode *d, const char *bytes, size_t len)
{
	struct error err = ERROR_INIT;
	struct json *value = json_parse(bytes, len, LENIENT, &err);

	d->halves = false;
	return value ? value : parse_mended(d, bytes, len);
}

static void take_event(void *self, const char *data, size_t len, bool tail)
{
	struct decode *d = self;

	if (d->failed || len == 0)
		return;
	/* With neither a reason to stop nor the last count before it, it ends the
	 * stream and no reply. */
	if (len == 6 && !memcmp(data, "[DONE]", 6)) {
		d->ended = true;
		d->terminal = d->raw_stop || d->counted;
		return;
	}
	struct json *value = parse(d, data, len);
	if (value)
		d->rules->event(d, value);
	else if (!tail) /* a broken tail is where the stream was cut */
		decode_protocol(d, "an event of the stream is not JSON");
	json_free(value);
}

void decode_init(struct decode *d, const struct decode_rules *rules, const struct llm_sink *sink)
{
	*d = (struct decode){ .rules = rules,
			      .sink = sink,
			      .stop = LLM_STOP_STOP,
			      .think = { .piece = take_piece, .self = d } };
	buf_init(&d->text, DECODE_TEXT_MAX);
	buf_init(&d->reasoning, DECODE_TEXT_MAX);
	sse_init(&d->sse, rules ? rules->framing : SSE_LINES, DECODE_EVENT_MAX, take_event, d);
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
	llm_error_release(&d->error);
}

int decode_feed(struct decode *d, const char *bytes, size_t len)
{
	if (!d->failed && sse_feed(&d->sse, bytes, len) < 0)
		decode_protocol(d, "an event of the stream is larger than 32 MiB");
	return d->failed ? -1 : 0;
}

void decode_text_bytes(struct decode *d, const char *bytes, size_t len)
{
	think_feed(&d->think, bytes, len);
}

/* Text of an event, to `take`; halves of characters are joined on the way. */
static void take_joined(struct decode *d, uint32_t *pending, const char *text, bool last,
			void (*take)(struct decode *d, const char *bytes, size_t len))
{
	struct buf joined = BUF_INIT(DECODE_EVENT_MAX * 3);
	size_t len = strlen(text);

	if (!d->halves && !*pending) {
		take(d, text, len);
		return;
	}
	surrogate_join(&joined, pending, text, len, last);
	take(d, joined.data, joined.len);
	buf_release(&joined);
}

static void take_reasoning(struct decode *d, const char *bytes, size_t len)
{
	take_piece(d, true, bytes, len);
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

/* A count that is missing, or nothing for what was said, is no report: nothing is free. */
static void doubt_usage(struct decode *d)
{
	struct llm_usage *u = &d->usage;
	bool said = d->text.len > 0 || d->reasoning.len > 0;

	if (u->source == LLM_USAGE_REPORTED &&
	    (u->input_tokens < 0 || u->output_tokens < 0 || (said && u->output_tokens == 0)))
		u->source = LLM_USAGE_PARTIAL;
	u->input_tokens = u->input_tokens < 0 ? 0 : u->input_tokens;
	u->output_tokens = u->output_tokens < 0 ? 0 : u->output_tokens;
}

void decode_finish(struct decode *d)
{
	if (!d->failed && sse_finish(&d->sse) < 0)
		decode_protocol(d, "an event of the stream is larger than 32 MiB");
	take_joined(d, &d->half_text, "", true, decode_text_bytes);
	take_joined(d, &d->half_reasoning, "", true, take_reasoning);
	think_finish(&d->think, !d->terminal);
	split_closing_only(d);
	if (d->rules)
		doubt_usage(d);
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
	struct json *value = parse(d, bytes, len);

	if (value && json_type(value) == JSON_OBJECT) {
		if (json_type(json_get(value, "error")) != JSON_NULL)
			decode_error(d, value);
		else
			d->rules->body(d, value);
	} else if (json_get(json_first(value), "error")) { /* Gemini: in an array */
		decode_error(d, value);
	} else {
		decode_protocol(
			d, is_html(bytes, len) ?
				   "the server answered with a web page, not with the API's JSON" :
			   len == 0 ? "the server's answer is empty" :
				      "the server's answer is not the API's JSON");
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
	llm_error_release(&ret->error);
	ret->error = d->error;
	d->error = (struct llm_error){ .class = LLM_ERROR_NONE };
}

void decode_text(struct decode *d, const char *text)
{
	if (text && *text)
		take_joined(d, &d->half_text, text, false, decode_text_bytes);
}

void decode_reasoning(struct decode *d, const char *text)
{
	if (text && *text)
		take_joined(d, &d->half_reasoning, text, false, take_reasoning);
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
	if (!value || !*value || (*to && !strcmp(*to, value)))
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

static void fail(struct decode *d, enum llm_error_class class, const char *message)
{
	if (d->failed)
		return;
	d->failed = true;
	llm_error_set(&d->error, class, 200, message);
}

void decode_protocol(struct decode *d, const char *message)
{
	fail(d, LLM_ERROR_PROTOCOL, message);
}

void decode_failure(struct decode *d, const char *message)
{
	fail(d, LLM_ERROR_SERVER, message);
}
