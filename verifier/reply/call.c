/*
 * A program in a tool call: the member that holds code, whatever the shape around it. The JSON is
 * the model's; nothing of it but text and a language's name is taken.
 */
#include "verifier/reply/call.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"
#include "verifier/reply/choose.h"
#include "verifier/judge.h"

#include <string.h>
#include <strings.h>

/* The member that holds the code; that of a language's row tells the language, too. */
static const char *const code_keys[] = { "code", "source", "source_code", "program", "script" };

/* Where a call keeps its arguments, or a list of calls. */
static const char *const inner_keys[] = {
	"arguments",	"parameters", "input",	       "args",	    "kwargs",
	"params",	"function",   "function_call", "tool_call", "tool_calls",
	"action_input", "tool_input", "calls",
};

static const char *const name_keys[] = { "name",   "tool",	     "tool_name", "function",
					 "action", "recipient_name", "language",  "lang" };

#define NESTING_MAX 6

static const char *tool_lang(const char *name)
{
	const struct language *l = language_find(name);
	const char *const *part;

	/* Names of tools that are no names of languages. */
	for (size_t i = 0; !l && lang_at(i); i++)
		for (part = lang_at(i)->reply.tools; *part; part++)
			if (strcasestr(name, *part))
				return lang_at(i)->name;
	return l ? l->name : NULL;
}

/* The tool of an object. *named: there is a name, known or not. */
static const char *object_lang(const struct json *o, bool *named)
{
	const char *lang = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(name_keys); i++) {
		const char *name = json_get_string(o, name_keys[i]);
		if (!name)
			continue;
		*named = true;
		lang = lang ? lang : tool_lang(name);
	}
	return lang;
}

static bool find(const struct json *value, const char *lang, bool named, int depth,
		 struct call *ret);

static bool find_in_string(const struct json *value, const char *lang, bool named, int depth,
			   struct call *ret)
{
	const char *text = json_string(value);

	/* {"action": "python", "action_input": "print(1)"} */
	if (!named || !text || !*text || depth > NESTING_MAX || !choose_guess(text, strlen(text)))
		return false;
	*ret = (struct call){ text, lang ? lang : choose_guess(text, strlen(text)) };
	return true;
}

/* The member `key`, if it holds code: key_lang is what its name tells of the language. */
static bool take_member(const struct json *o, const char *key, const char *lang,
			const char *key_lang, bool named, struct call *ret)
{
	const char *code = json_get_string(o, key);
	const char *told = lang ? lang : key_lang;

	if (!code || !*code)
		return false;
	if (!told)
		told = choose_guess(code, strlen(code));
	if (!named && !told)
		return false;
	*ret = (struct call){ code, told };
	return true;
}

static bool find_in_object(const struct json *o, const char *lang, bool named, int depth,
			   struct call *ret)
{
	const char *own = object_lang(o, &named);

	lang = own ? own : lang;
	for (size_t i = 0; i < ARRAY_SIZE(code_keys); i++)
		if (take_member(o, code_keys[i], lang, NULL, named, ret))
			return true;
	const char *const *key;
	for (size_t i = 0; lang_at(i); i++)
		for (key = lang_at(i)->reply.members; *key; key++)
			if (take_member(o, *key, lang, lang_at(i)->name, named, ret))
				return true;
	for (size_t i = 0; i < ARRAY_SIZE(inner_keys); i++)
		if (find(json_get(o, inner_keys[i]), lang, named, depth + 1, ret))
			return true;
	return false;
}

static bool find(const struct json *value, const char *lang, bool named, int depth,
		 struct call *ret)
{
	if (!value || depth > NESTING_MAX)
		return false;
	const struct json *item;
	switch (json_type(value)) {
	case JSON_OBJECT:
		return find_in_object(value, lang, named, depth, ret);
	case JSON_ARRAY:
		for (item = json_first(value); item; item = json_next(item))
			if (find(item, lang, named, depth + 1, ret))
				return true;
		return false;
	case JSON_STRING:
		return find_in_string(value, lang, named, depth, ret);
	case JSON_NULL:
	case JSON_BOOL:
	case JSON_NUMBER:
	default:
		return false;
	}
}

void call_find(const struct json *value, struct call *ret)
{
	*ret = (struct call){ NULL, NULL };
	find(value, NULL, false, 0, ret);
}

/* Line breaks and tabs inside strings, escaped. */
static char *with_escapes(const char *text, size_t len, size_t *ret_len)
{
	struct buf out = BUF_INIT(2 * len + 16);
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		if (in_string && text[i] == '\\' && i + 1 < len) {
			buf_addch(&out, text[i++]);
		} else if (text[i] == '"') {
			in_string = !in_string;
		} else if (in_string && strchr("\n\t\r", text[i]) && text[i]) {
			buf_addch(&out, '\\');
			buf_addch(&out, text[i] == '\n' ? 'n' : text[i] == '\t' ? 't' : 'r');
			continue;
		}
		buf_addch(&out, text[i]);
	}
	return buf_take(&out, ret_len);
}

/* Arguments that are JSON in a string become what they say. */
static struct json *unwrapped(struct json *o)
{
	struct json *function = json_get(o, "function"), *list = json_get(o, "tool_calls");
	struct json *first = list ? json_get(json_first(list), "function") : NULL;
	struct json *holder = function ? function : first ? first : o;
	const char *text = json_get_string(holder, "arguments");

	text = text && *text == '{' ? text : NULL;
	struct error err = ERROR_INIT;
	struct json *inner = text ? json_parse(text, strlen(text), JSON_BIG_AS_STRING, &err) : NULL;
	if (inner)
		json_set(holder, "arguments", inner);
	return o;
}

struct json *call_parse(const char *text, size_t len)
{
	struct json *o = judge_find_object(text, len);

	if (!o && memchr(text, '{', len)) {
		size_t n;

		cleanup_free char *escaped = with_escapes(text, len, &n);
		o = judge_find_object(escaped, n);
	}
	return o ? unwrapped(o) : NULL;
}
