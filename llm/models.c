/*
 * Which models a server offers: one request, no retry. The answer is another server's JSON, and
 * of it only names are taken.
 */
#include "llm/llm.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "llm/wire/errors.h"
#include "base/http/http.h"
#include "llm/http/target.h"
#include "llm/wire/wire.h"

#include <stdlib.h>
#include <string.h>

#define LIST_MAX_BYTES	   ((size_t)16 << 20)
#define LIST_TIMEOUT_MS	   30000
#define CONNECT_TIMEOUT_MS 10000

static bool on_body(void *self, const char *bytes, size_t len)
{
	return buf_add(self, bytes, len) == 0;
}

static void perform(struct http *http, const struct llm_http_options *o, int cancel_fd,
		    struct buf *body, struct http_response *response)
{
	const char *base = o->base_url ? o->base_url : target_default_base(o->wire);
	cleanup_free char *url = target_url(base, wire_find(o->wire)->models_path, NULL);
	char *headers[TARGET_HEADERS_MAX];
	int64_t connect_ms = o->connect_timeout_ms > 0 ? o->connect_timeout_ms : CONNECT_TIMEOUT_MS;
	int64_t total_ms =
		o->first_byte_timeout_ms > 0 ? o->first_byte_timeout_ms : LIST_TIMEOUT_MS;
	struct http_request request = {
		.url = url,
		.headers = (const char *const *)headers,
		.ca_file = o->ca_file,
		.words = o->words,
		.connect_timeout_ms = connect_ms,
		.first_byte_timeout_ms = total_ms,
		.idle_timeout_ms = total_ms,
		.deadline_mono_ms = clock_mono_ms() + total_ms,
		.body_max_bytes = LIST_MAX_BYTES,
		.cancel_fd = cancel_fd,
		.on_body = on_body,
		.self = body,
	};

	target_headers(o->wire, base, o->auth, o->key, headers);
	http_perform(http, &request, response);
	target_headers_free(headers);
}

/* OpenAI and Anthropic: {"data":[{"id"}]}; Ollama: {"models":[{"name"}]}. */
static struct json *list_of(const struct json *value)
{
	const struct json *list = json_get(value, "data");
	struct json *models = json_array();

	if (!list)
		list = json_get(value, "models");
	for (const struct json *m = json_first(list); m; m = json_next(m)) {
		const char *id = json_get_string(m, "id");
		const char *name = json_get_string(m, "display_name");

		name = name ? name : json_get_string(m, "name");
		id = id ? id : name;
		if (!id)
			continue;
		struct json *model = json_object();
		json_set_string(model, "id", id);
		json_set_string(model, "name", name ? name : id);
		json_append(models, model);
	}
	return models;
}

static int fail(const struct llm_http_options *o, const struct http_response *r,
		const struct buf *body, struct error *err)
{
	struct llm_error error = { .class = LLM_ERROR_NONE };

	if (r->end == HTTP_END_CANCELLED)
		return error_set(err, ERR_CANCELLED, "%s: cancelled", o->provider);
	char *param = NULL;
	if (r->status == 0 || r->end != HTTP_END_DONE)
		llm_error_set(&error, LLM_ERROR_NETWORK, r->status, r->message);
	else
		errors_classify(r->status, body->data, body->len, &error, &param);
	int rc = llm_error_raise(&error, o->provider, err);
	llm_error_release(&error);
	free(param);
	return rc;
}

static int take(const struct llm_http_options *o, const struct http_response *r,
		const struct buf *body, struct json **ret_models, struct error *err)
{
	if (r->end != HTTP_END_DONE || r->status < 200 || r->status > 299)
		return fail(o, r, body, err);
	struct json *value = json_parse(body->data, body->len, JSON_BIG_AS_STRING, err);
	if (json_type(json_get(value, "data")) != JSON_ARRAY &&
	    json_type(json_get(value, "models")) != JSON_ARRAY) {
		json_free(value);
		return error_set(err, ERR_PROVIDER,
				 "%s: the answer is no list of models: "
				 "is the base URL right?",
				 o->provider);
	}
	*ret_models = list_of(value);
	json_free(value);
	return 0;
}

int llm_http_models(const struct llm_http_options *options, int cancel_fd, struct json **ret_models,
		    struct error *err)
{
	struct http *http = http_open(err);
	struct buf body = BUF_INIT(LIST_MAX_BYTES);

	if (!http)
		return -1;
	struct http_response response;
	perform(http, options, cancel_fd, &body, &response);
	int rc = take(options, &response, &body, ret_models, err);
	buf_release(&body);
	http_close(http);
	return rc;
}
