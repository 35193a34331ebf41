/*
 * A wire format: how a request is written and what a response means. Pure
 * data and pure functions; HTTP is llm/http/client.c's and base/http/http.c's affair.
 */
#ifndef LLM_WIRE_H
#define LLM_WIRE_H

#include "base/json.h"
#include "llm/wire/decode.h"
#include "llm/llm.h"
#include "llm/wire/sse.h"

#include <stdbool.h>

struct wire {
	const char *name;
	const char *path; /* under the base URL */
	const char *models_path;
	struct decode_rules responses;
	/*
	 * The request body; model is never NULL. official: the wire's own
	 * vendor serves it, so members only it knows may be sent. What models
	 * refuse is llm/wire/capability.h's affair. Caller frees.
	 */
	struct json *(*build)(const struct llm_request *request, const char *model, bool official);
};

extern const struct wire wire_openai_chat;
extern const struct wire wire_openai_responses;
extern const struct wire wire_anthropic;
extern const struct wire wire_ollama;

const struct wire *wire_find(enum llm_wire wire);

/* --- shared by the wires --- */

/* The content of a message with images, as the wire has it: sets it in json. */
typedef void wire_content(struct json *json, const struct llm_message *m);

/* [{"role","content"}, ...]; system messages only when with_system. Caller frees. */
struct json *wire_messages(const struct llm_request *request, bool with_system,
			   wire_content *with_images);

/* "data:image/png;base64,..."; the caller frees. */
char *wire_image_url(const struct llm_image *image);
/* Appends {"type": type} to parts; the part, which is theirs. */
struct json *wire_add_part(struct json *parts, const char *type);

/* The system messages joined by blank lines, or NULL. Caller frees. */
char *wire_system(const struct llm_request *request);

/* What a wire calls a reason to stop; a row of a table that ends with NULL. */
struct wire_stop {
	const char *raw;
	enum llm_stop stop;
};

/* The reply stopped for reason raw (NULL: not said yet); an unknown one is a plain stop. */
void wire_take_stop(struct decode *d, const char *raw, const struct wire_stop *table);

/* What to do with an event of a type; a row of a table that ends with NULL. */
struct wire_event {
	const char *type;
	void (*take)(struct decode *d, const struct json *value);
};

/* By the event's "type"; unknown ones are ignored, and one without is an error or nothing. */
void wire_take_event(struct decode *d, const struct json *value, const struct wire_event *table);

/* Whether the "type" of value is that. */
bool wire_has_type(const struct json *value, const char *type);

/* Copies request->options over the members of body. */
void wire_merge_options(struct json *body, const struct llm_request *request);

#endif
