/*
 * What an error response means: its class by status, words and shape, and the parameter it names.
 * Pure; the message is the server's, cut, and decides nothing but the class.
 */
#include "llm/wire/errors.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define NESTING_MAX 8 /* errors inside strings inside errors */

/* What was found in a body; strings are borrowed from it. */
struct finding {
	const char *message, *code, *type, *param;
};

/* A word in a code or type decides before the status does. */
static const struct {
	const char *word;
	enum llm_error_class class;
} words[] = {
	{ "insufficient_quota", LLM_ERROR_QUOTA },
	{ "billing", LLM_ERROR_QUOTA },
	{ "insufficient_credits", LLM_ERROR_QUOTA },
	{ "spend_limit", LLM_ERROR_QUOTA },
	{ "context_length", LLM_ERROR_CONTEXT },
	{ "exceed_context_size", LLM_ERROR_CONTEXT },
	{ "request_too_large", LLM_ERROR_CONTEXT },
	{ "rate_limit", LLM_ERROR_RATE_LIMIT },
	{ "resource_exhausted", LLM_ERROR_RATE_LIMIT },
	{ "overloaded", LLM_ERROR_OVERLOADED },
	{ "unavailable", LLM_ERROR_OVERLOADED },
	{ "authentication", LLM_ERROR_AUTH },
	{ "invalid_api_key", LLM_ERROR_AUTH },
	{ "permission", LLM_ERROR_AUTH },
	{ "unauthenticated", LLM_ERROR_AUTH },
	{ "timeout", LLM_ERROR_TIMEOUT },
	{ "deadline_exceeded", LLM_ERROR_TIMEOUT },
	{ "server_error", LLM_ERROR_SERVER },
	{ "api_error", LLM_ERROR_SERVER },
	{ "invalid_request", LLM_ERROR_INVALID },
	{ "not_found", LLM_ERROR_INVALID },
	{ "invalid_argument", LLM_ERROR_INVALID },
};

/* Phrases of messages, for servers whose codes say nothing. */
static const struct {
	const char *phrase;
	enum llm_error_class class;
} phrases[] = {
	{ "maximum context length", LLM_ERROR_CONTEXT },
	{ "prompt is too long", LLM_ERROR_CONTEXT },
	{ "context window", LLM_ERROR_CONTEXT },
	{ "available context size", LLM_ERROR_CONTEXT },
	{ "exceeds the context", LLM_ERROR_CONTEXT },
	{ "api key not valid", LLM_ERROR_AUTH },
	{ "invalid api key", LLM_ERROR_AUTH },
	{ "credit balance is too low", LLM_ERROR_QUOTA },
	{ "spend limit", LLM_ERROR_QUOTA },
};

/* A status beats the class, a missing quota beats both. */
static bool is_retryable(long status, const struct llm_error *error)
{
	if (error->class == LLM_ERROR_QUOTA)
		return false;
	if (status < 300)
		return error->retryable;
	return status == 408 || status == 409 || status == 429 || status >= 500;
}

static enum llm_error_class class_of_status(long status)
{
	switch (status) {
	case 401:
	case 403:
		return LLM_ERROR_AUTH;
	case 402:
		return LLM_ERROR_QUOTA;
	case 408:
	case 504:
		return LLM_ERROR_TIMEOUT;
	case 413:
		return LLM_ERROR_CONTEXT;
	case 429:
		return LLM_ERROR_RATE_LIMIT;
	case 503:
	case 529:
		return LLM_ERROR_OVERLOADED;
	default:
		break;
	}
	if (status >= 300 && status != 409 && status < 500)
		return LLM_ERROR_INVALID;
	return LLM_ERROR_SERVER;
}

static bool class_of_word(const char *word, enum llm_error_class *ret)
{
	for (size_t i = 0; word && i < ARRAY_SIZE(words); i++) {
		if (strcasestr(word, words[i].word)) {
			*ret = words[i].class;
			return true;
		}
	}
	return false;
}

static bool class_of_phrase(const char *message, enum llm_error_class *ret)
{
	for (size_t i = 0; message && i < ARRAY_SIZE(phrases); i++) {
		if (strcasestr(message, phrases[i].phrase)) {
			*ret = phrases[i].class;
			return true;
		}
	}
	return false;
}

/* Statuses whose meaning is exact; a vague word in the body must not change them. */
static bool status_is_exact(long status)
{
	return status == 401 || status == 402 || status == 403 || status == 429 || status == 529;
}

static enum llm_error_class decide(long status, const struct finding *f)
{
	enum llm_error_class class;

	if (class_of_word(f->code, &class) && class == LLM_ERROR_QUOTA)
		return class;
	if (class_of_word(f->type, &class) && class == LLM_ERROR_QUOTA)
		return class;
	if (class_of_phrase(f->message, &class) &&
	    (!status_is_exact(status) || class == LLM_ERROR_QUOTA))
		return class;
	if (status_is_exact(status))
		return class_of_status(status);
	if (class_of_word(f->code, &class) || class_of_word(f->type, &class))
		return class;
	return class_of_status(status);
}

static const char *text_of(const struct json *object, const char *key)
{
	const char *s = json_get_string(object, key);

	return s && *s ? s : NULL;
}

/* FastAPI's {"detail": "..."} or {"detail": [{"loc": [...], "msg": "..."}]}. */
static void find_detail(const struct json *detail, struct finding *f)
{
	const struct json *first = json_type(detail) == JSON_ARRAY ? json_first(detail) : NULL;
	const struct json *loc = json_get(first, "loc");

	f->message = first ? text_of(first, "msg") : json_string(detail);
	for (const struct json *part = json_first(loc); part; part = json_next(part))
		f->param = json_string(part) ? json_string(part) : f->param;
}

/*
 * Looks through value for the error. A string that is itself JSON is parsed
 * into *ret_inner, which the caller frees after using f.
 */
static void find(const struct json *value, struct finding *f, struct json **ret_inner)
{
	for (int depth = 0; value && depth < NESTING_MAX; depth++) {
		const struct json *inside = json_get(value, "error");

		if (json_type(value) == JSON_ARRAY) {
			value = json_first(value);
			continue;
		}
		if (json_type(value) == JSON_STRING) {
			const char *s = json_string(value);

			f->message = s;
			if ((*s != '{' && *s != '[') || *ret_inner)
				return;
			struct error err = ERROR_INIT;
			value = *ret_inner = json_parse(s, strlen(s), JSON_BIG_AS_STRING, &err);
			continue;
		}
		if (json_type(inside) != JSON_NULL) {
			value = inside;
			continue;
		}
		if (json_get(value, "detail"))
			find_detail(json_get(value, "detail"), f);
		f->type = text_of(value, "type") ? text_of(value, "type") : f->type;
		f->type = text_of(value, "status") ? text_of(value, "status") : f->type;
		f->code = text_of(value, "code") ? text_of(value, "code") : f->code;
		f->param = text_of(value, "param") ? text_of(value, "param") : f->param;
		value = json_get(value, "message");
		if (json_type(value) != JSON_STRING)
			return;
	}
}

/* "Unsupported parameter: 'temperature'": the first quoted word of such a message. */
static char *param_of_message(const char *message)
{
	static const char *const openers[] = {
		"nsupported parameter",
		"nsupported value",
		"nrecognized request argument",
		"nknown parameter",
		"nknown name",
		"nknown field",
		"xtra inputs are not permitted",
		"is deprecated for this model",
		"not supported",
		"does not support",
	};
	const char *at = NULL;

	for (size_t i = 0; message && !at && i < ARRAY_SIZE(openers); i++)
		at = strstr(message, openers[i]);
	if (!at)
		return NULL;
	message = strpbrk(message, "'`\"");
	if (!message)
		return NULL;
	size_t len = strcspn(message + 1, "'`\"");
	return len > 0 && len < 64 ? mem_strndup(message + 1, len) : NULL;
}

/* Anthropic: "stop_sequences.0: ..." or "temperature: Extra inputs are not permitted". */
static char *param_of_prefix(const char *message)
{
	size_t len = message ? strspn(message, "abcdefghijklmnopqrstuvwxyz_") : 0;

	if (len == 0 || (message[len] != ':' && message[len] != '.') ||
	    (!strstr(message, "not permitted") && !strstr(message, "not supported")))
		return NULL;
	return mem_strndup(message, len);
}

static void conclude(long status, const struct finding *f, struct llm_error *ret, char **ret_param)
{
	char *param = f->param ? mem_strdup(f->param) : param_of_prefix(f->message);

	llm_error_set(ret, decide(status, f), status, f->message);
	ret->retryable = is_retryable(status, ret);
	ret->code = mem_strdup(f->code ? f->code : f->type);
	free(*ret_param);
	*ret_param = param ? param : param_of_message(f->message);
}

void errors_classify_json(long status, const struct json *value, struct llm_error *ret,
			  char **ret_param)
{
	struct finding f = { NULL };
	struct json *inner = NULL;

	find(value, &f, &inner);
	long code = 0;
	if (status == 200) { /* OpenRouter puts the status in the error's code */
		code = (long)json_get_int(json_get(value, "error"), "code", 0);
		status = code >= 400 && code < 600 ? code : 200;
	}
	conclude(status, &f, ret, ret_param);
	if (!ret->message && json_type(value) != JSON_NULL) {
		char *text = json_print(value);

		ret->message = llm_error_clip(text);
		free(text);
	}
	json_free(inner);
}

/* The <title> of a page says more than its first bytes. */
static char *page_title(const char *body)
{
	const char *title = strcasestr(body, "<title");
	const char *start = title ? strchr(title, '>') : NULL;
	size_t len = start ? strcspn(start + 1, "<\r\n") : 0;

	if (len == 0 || len > LLM_ERROR_MESSAGE_MAX)
		return NULL;
	return mem_printf("a web page: %.*s", (int)len, start + 1);
}

static void classify_text(long status, const char *body, struct llm_error *ret, char **ret_param)
{
	const char *start = body + strspn(body, " \t\r\n");
	char *title = *start == '<' ? page_title(start) : NULL;
	struct finding f = { .message = title	      ? title :
					*start == '<' ? "a web page" :
					*start	      ? start :
							NULL };

	conclude(status, &f, ret, ret_param);
	free(title);
}

void errors_classify(long status, const char *body, size_t len, struct llm_error *ret,
		     char **ret_param)
{
	struct error err = ERROR_INIT;
	struct json *value = json_parse(body, len, JSON_BIG_AS_STRING, &err);

	if (value) {
		errors_classify_json(status, value, ret, ret_param);
	} else {
		struct buf text = BUF_INIT(4 * LLM_ERROR_MESSAGE_MAX);
		size_t take = len < LLM_ERROR_MESSAGE_MAX ? len : LLM_ERROR_MESSAGE_MAX;

		utf8_repair(&text, body, take);
		classify_text(status, text.data, ret, ret_param);
		buf_release(&text);
	}
	json_free(value);
}
