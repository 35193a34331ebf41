/*
 * What the wires share: the messages of a request, reasons to stop, events by their type. The
 * rows are in a file for each; a new wire is a line of wire_find. Nothing here knows HTTP.
 */
#include "llm/wire/wire.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const struct wire *wire_find(enum llm_wire wire)
{
	switch (wire) {
	case LLM_WIRE_OPENAI_CHAT:
		return &wire_openai_chat;
	case LLM_WIRE_ANTHROPIC:
		return &wire_anthropic;
	case LLM_WIRE_OPENAI_RESPONSES:
		return &wire_openai_responses;
	case LLM_WIRE_OLLAMA:
		return &wire_ollama;
	}
	return &wire_openai_chat;
}

static void add_message(struct json *array, const struct llm_message *m, wire_content *with_images)
{
	struct json *message = json_object();

	json_set_string(message, "role", m->role);
	if (m->image_count)
		with_images(message, m);
	else
		json_set_bytes(message, "content", m->content, strlen(m->content));
	json_append(array, message);
}

char *wire_image_url(const struct llm_image *image)
{
	cleanup_free char *data = base64_text(image->bytes, image->len);

	return mem_printf("data:%s;base64,%s", image->media_type, data);
}

struct json *wire_add_part(struct json *parts, const char *type)
{
	struct json *part = json_object();

	json_set_string(part, "type", type);
	json_append(parts, part);
	return part;
}

/* One system message: some templates of local models fail on a second one. */
struct json *wire_messages(const struct llm_request *request, bool with_system,
			   wire_content *with_images)
{
	struct json *array = json_array();
	char *system = with_system ? wire_system(request) : NULL;
	const struct llm_message first = { .role = "system", .content = system };

	if (system)
		add_message(array, &first, with_images);
	free(system);
	for (size_t i = 0; i < request->message_count; i++) {
		const struct llm_message *m = &request->messages[i];

		if (strcmp(m->role, "system"))
			add_message(array, m, with_images);
	}
	return array;
}

char *wire_system(const struct llm_request *request)
{
	struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	for (size_t i = 0; i < request->message_count; i++) {
		if (strcmp(request->messages[i].role, "system"))
			continue;
		if (text.len > 0)
			buf_addstr(&text, "\n\n");
		buf_addstr(&text, request->messages[i].content);
	}
	return text.len > 0 ? buf_take(&text, NULL) : NULL;
}

void wire_take_stop(struct decode *d, const char *raw, const struct wire_stop *table)
{
	if (!raw)
		return;
	while (table->raw && strcmp(raw, table->raw))
		table++;
	decode_stop(d, raw, table->raw ? table->stop : LLM_STOP_STOP);
}

void wire_take_event(struct decode *d, const struct json *value, const struct wire_event *table)
{
	const char *type = json_get_string(value, "type");

	while (type && table->type && strcmp(type, table->type))
		table++;
	if (type && table->type)
		table->take(d, value);
	else if (!type && json_get(value, "error"))
		decode_error(d, value);
}

bool wire_has_type(const struct json *value, const char *type)
{
	const char *have = json_get_string(value, "type");

	return have && !strcmp(have, type);
}

void wire_merge_options(struct json *body, const struct llm_request *request)
{
	for (const struct json *o = json_first(request->options); o; o = json_next(o))
		json_set(body, json_key(o), json_copy(o));
}
