/*
 * The error of a call: its class, and what that means for a second try. Which class a response
 * is, llm/wire/errors.c tells; here are no wires and no HTTP.
 */
#include "llm/error.h"

#include "base/mem.h"
#include "base/name.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = {
	[LLM_ERROR_NONE] = "none",
	[LLM_ERROR_AUTH] = "auth",
	[LLM_ERROR_QUOTA] = "quota",
	[LLM_ERROR_RATE_LIMIT] = "rate_limit",
	[LLM_ERROR_OVERLOADED] = "overloaded",
	[LLM_ERROR_INVALID] = "invalid",
	[LLM_ERROR_CONTEXT] = "context",
	[LLM_ERROR_NETWORK] = "network",
	[LLM_ERROR_TIMEOUT] = "timeout",
	[LLM_ERROR_PROTOCOL] = "protocol",
	[LLM_ERROR_SERVER] = "server",
};

const char *llm_error_class_name(enum llm_error_class class)
{
	return class_names[class];
}

int llm_error_class_parse(const char *name)
{
	return name_find(class_names, ARRAY_SIZE(class_names), name);
}

static bool class_retryable(enum llm_error_class class)
{
	switch (class) {
	case LLM_ERROR_RATE_LIMIT:
	case LLM_ERROR_OVERLOADED:
	case LLM_ERROR_NETWORK:
	case LLM_ERROR_TIMEOUT:
	case LLM_ERROR_PROTOCOL:
	case LLM_ERROR_SERVER:
		return true;
	case LLM_ERROR_NONE:
	case LLM_ERROR_AUTH:
	case LLM_ERROR_QUOTA:
	case LLM_ERROR_INVALID:
	case LLM_ERROR_CONTEXT:
		break;
	}
	return false;
}

bool llm_error_is_outage(enum llm_error_class class)
{
	return class != LLM_ERROR_PROTOCOL && class_retryable(class);
}

char *llm_error_clip(const char *message)
{
	size_t len = message ? strlen(message) : 0;

	if (len > LLM_ERROR_MESSAGE_MAX)
		len = utf8_valid_prefix(message, LLM_ERROR_MESSAGE_MAX);
	while (len > 0 && strchr(" \r\n", message[len - 1]))
		len--;
	return message ? mem_strndup(message, len) : NULL;
}

void llm_error_set(struct llm_error *ret, enum llm_error_class class, long status,
		   const char *message)
{
	char *copy = llm_error_clip(message);

	llm_error_release(ret);
	ret->class = class;
	ret->status = status;
	ret->message = copy;
	ret->retryable = class_retryable(class);
}

void llm_error_release(struct llm_error *error)
{
	free(error->code);
	free(error->message);
	*error = (struct llm_error){ .class = LLM_ERROR_NONE };
}

int llm_error_raise(const struct llm_error *error, const char *provider, struct error *err)
{
	enum error_kind kind = error->class == LLM_ERROR_AUTH ? ERR_CONFIG : ERR_PROVIDER;
	const char *message = error->message ? error->message : "no message";

	if (error->status > 0 && error->status != 200)
		return error_set(err, kind, "%s: %s (HTTP %ld): %s", provider,
				 llm_error_class_name(error->class), error->status, message);
	return error_set(err, kind, "%s: %s: %s", provider, llm_error_class_name(error->class),
			 message);
}
