#include "llm/repair.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* Without these there is no request. */
static bool is_essential(const char *name)
{
	static const char *const names[] = { "model", "messages", "input", "system",
					     "instructions", "stream" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* A parameter the server does not take, as against a value out of its range. */
static bool is_rejection(const struct llm_error *error)
{
	static const char *const words[] = { "unsupported", "not supported", "not support",
					     "unknown", "unrecognized", "not permitted",
					     "deprecated", "unexpected", "cannot find field" };

	if (error->status != 400 && error->status != 422)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if ((error->message && strcasestr(error->message, words[i])) ||
		    (error->code && strcasestr(error->code, words[i])))
			return true;
	}
	return false;
}

static char *rename_member(struct json *body, const char *from, const char *to)
{
	json_set(body, to, json_copy(json_get(body, from)));
	json_remove(body, from);
	return mem_printf("the server rejects %s: sent again as %s", from, to);
}

char *repair_body(struct json *body, const struct llm_error *error, const char *param)
{
	cleanup_free char *name = NULL;

	if (!param || !is_rejection(error))
		return NULL;
	name = mem_strndup(param, strcspn(param, ".["));
	if (!json_get(body, name) || is_essential(name))
		return NULL;
	if (strcmp(name, "max_tokens") == 0 && json_get(body, "messages") &&
	    !json_get(body, "max_completion_tokens"))
		return rename_member(body, name, "max_completion_tokens");
	if (strcmp(name, "max_completion_tokens") == 0 && !json_get(body, "max_tokens"))
		return rename_member(body, name, "max_tokens");
	json_remove(body, name);
	return mem_printf("the server rejects %s: sent again without it", name);
}
