/* What went wrong with a call of the model: a class for callers, words for people. */
#ifndef LLM_ERROR_H
#define LLM_ERROR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define LLM_ERROR_MESSAGE_MAX 600 /* bytes of a server's message that are worth keeping */

enum llm_error_class {
	LLM_ERROR_NONE,
	LLM_ERROR_AUTH,
	LLM_ERROR_QUOTA,
	LLM_ERROR_RATE_LIMIT,
	LLM_ERROR_OVERLOADED,
	LLM_ERROR_INVALID,
	LLM_ERROR_CONTEXT,
	LLM_ERROR_NETWORK,
	LLM_ERROR_TIMEOUT,
	LLM_ERROR_PROTOCOL,
	LLM_ERROR_SERVER,
};

struct llm_error {
	enum llm_error_class class;
	long status;   /* HTTP status, 0 when there was none */
	char *code;    /* owned, may be NULL */
	char *message; /* owned, may be NULL */
	bool retryable;
};

const char *llm_error_class_name(enum llm_error_class class);
int llm_error_class_parse(const char *name); /* -1 when unknown */

/* The provider is not there, or has no room: nothing that was asked is at fault, and the same
 * call may do later. */
bool llm_error_is_outage(enum llm_error_class class);

/* Replaces *ret; message is copied, cut. Retryable by the class alone. */
void llm_error_set(struct llm_error *ret, enum llm_error_class class, long status,
		   const char *message);
void llm_error_release(struct llm_error *error);

/* As much of a message as is worth telling; NULL for NULL. Caller frees. */
char *llm_error_clip(const char *message);

/* err from error: ERR_CONFIG for keys, ERR_PROVIDER for the rest. Returns -1. */
int llm_error_raise(const struct llm_error *error, const char *provider, struct error *err);

#endif
