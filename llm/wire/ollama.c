/*
 * Ollama's native chat, newline-delimited JSON: github.com/ollama/ollama docs/api.md. Pure; the
 * context window is asked for as large as the prompt needs.
 */
#include "llm/wire/wire.h"

#include "base/base64.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

#define WINDOW_DEFAULT 4096 /* Ollama's own */
#define WINDOW_MOST    131072
#define REPLY_ROOM     2048

/* Ollama's own settings live in "options"; these few are members of the request. */
static bool is_top_level(const char *key)
{
	static const char *const keys[] = { "format", "keep_alive", "think",	"options", "tools",
					    "stream", "model",	    "messages", NULL };

	for (const char *const *k = keys; *k; k++)
		if (!strcmp(key, *k))
			return true;
	return false;
}

/*
 * Ollama cuts what does not fit its window without a word, so a long
 * conversation asks for a larger one: a power of two, since each new size
 * loads the model again. 3 bytes a token is a low estimate.
 */
static int64_t window_needed(const struct llm_request *request)
{
	int64_t reply = request->max_tokens > 0 && request->max_tokens < REPLY_ROOM ?
				request->max_tokens :
				REPLY_ROOM;
	int64_t need = reply;

	for (size_t i = 0; i < request->message_count; i++)
		need += (int64_t)strlen(request->messages[i].content) / 3 + 8;
	int64_t window = WINDOW_DEFAULT;
	while (window < need && window < WINDOW_MOST)
		window *= 2;
	return window;
}

/* docs/api.md, "Chat request (with images)". */
static void add_images(struct json *json, const struct llm_message *m)
{
	struct json *images = json_array();

	for (size_t i = 0; i < m->image_count; i++) {
		cleanup_free char *data = base64_text(m->images[i].bytes, m->images[i].len);

		json_append(images, json_new_string(data));
	}
	json_set_bytes(json, "content", m->content, strlen(m->content));
	json_set(json, "images", images);
}

static struct json *build(const struct llm_request *request, const char *model, bool official)
{
	struct json *body = json_object();
	struct json *options = json_object();

	(void)official;
	json_set_string(body, "model", model);
	json_set(body, "messages", wire_messages(request, true, add_images));
	json_set_bool(body, "stream", request->stream);
	if (request->max_tokens > 0)
		json_set_int(options, "num_predict", request->max_tokens);
	if (!isnan(request->temperature))
		json_set_number(options, "temperature", request->temperature);
	for (const struct json *o = json_first(request->options); o; o = json_next(o))
		json_set(is_top_level(json_key(o)) ? body : options, json_key(o), json_copy(o));
	if (!json_get(options, "num_ctx") && window_needed(request) > WINDOW_DEFAULT)
		json_set_int(options, "num_ctx", window_needed(request));
	if (json_count(options) > 0 && !json_get(body, "options"))
		json_set(body, "options", options);
	else
		json_free(options);
	return body;
}

/* The last line counts tokens. A call of a tool is no reason to stop on this wire. */
static void take_done(struct decode *d, const struct json *value)
{
	static const struct wire_stop stops[] = {
		{ "length", LLM_STOP_LENGTH },
		{ NULL, LLM_STOP_STOP },
	};

	d->usage.input_tokens = json_get_int(value, "prompt_eval_count", -1);
	d->usage.output_tokens = json_get_int(value, "eval_count", -1);
	d->usage.source = LLM_USAGE_REPORTED;
	wire_take_stop(d, json_get_string(value, "done_reason"), stops);
	if (d->called && d->text.len == 0 && d->think.held_len == 0 && d->stop == LLM_STOP_STOP)
		d->stop = LLM_STOP_TOOL;
	d->terminal = true;
}

static void event(struct decode *d, const struct json *value)
{
	const struct json *message = json_get(value, "message");

	if (json_type(json_get(value, "error")) != JSON_NULL) {
		decode_error(d, value);
		return;
	}
	decode_model(d, json_get_string(value, "model"));
	decode_reasoning(d, json_get_string(message, "thinking"));
	decode_text(d, json_get_string(message, "content"));
	if (json_count(json_get(message, "tool_calls")) > 0)
		d->called = true;
	if (json_get_bool(value, "done", false))
		take_done(d, value);
}

static void body(struct decode *d, const struct json *value)
{
	if (!json_get(value, "message")) {
		decode_protocol(d, "the answer has no \"message\"");
		return;
	}
	event(d, value);
}

const struct wire wire_ollama = {
	.name = "ollama",
	.path = "/api/chat",
	.models_path = "/api/tags",
	.build = build,
	.responses = { .framing = SSE_LINES, .event = event, .body = body },
};
