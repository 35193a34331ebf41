/*
 * What an error response means. Pure. Knows the shapes of OpenAI, Anthropic,
 * Gemini (arrays, doubly encoded strings), Ollama, Mistral, FastAPI servers
 * and HTML from proxies.
 */
#ifndef LLM_ERRORS_H
#define LLM_ERRORS_H

#include "base/json.h"
#include "llm/error.h"

#include <stddef.h>

/*
 * Classifies a response. Replaces *ret (its strings are freed) and *ret_param,
 * the parameter the server rejects, NULL when it names none. status 0 or 200
 * is an error inside a successful response.
 */
void errors_classify(long status, const char *body, size_t len, struct llm_error *ret,
		     char **ret_param);
void errors_classify_json(long status, const struct json *value, struct llm_error *ret,
			  char **ret_param);

#endif
