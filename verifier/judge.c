#include "verifier/judge.h"

#include "base/mem.h"
#include "verifier/fence.h"

#include <string.h>

static struct json *parse_object(const char *text, size_t len)
{
	struct error err = ERROR_INIT;
	struct json *value;

	while (len && strchr(" \t\r\n", text[0])) {
		text++;
		len--;
	}
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	if (len < 2 || text[0] != '{' || text[len - 1] != '}')
		return NULL;
	value = json_parse(text, len, JSON_BIG_AS_STRING, &err);
	if (value && json_type(value) != JSON_OBJECT) {
		json_free(value);
		return NULL;
	}
	return value;
}

/* One past the brace that closes the object at text[0], or 0. Braces in
 * strings do not count. */
static size_t object_len(const char *text, size_t len)
{
	bool in_string = false;
	size_t i, depth = 0;

	for (i = 0; i < len; i++) {
		if (in_string) {
			if (text[i] == '\\')
				i++;
			else if (text[i] == '"')
				in_string = false;
		} else if (text[i] == '"') {
			in_string = true;
		} else if (text[i] == '{') {
			depth++;
		} else if (text[i] == '}' && --depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* Attempts are bounded: each one may read to the end. */
#define OBJECT_TRIES_MAX 32

static struct json *find_in_prose(const char *text, size_t len)
{
	const char *at = text, *end = text + len;
	struct json *value;
	size_t n;
	int tries;

	for (tries = 0; tries < OBJECT_TRIES_MAX; tries++) {
		at = memchr(at, '{', (size_t)(end - at));
		if (!at)
			return NULL;
		n = object_len(at, (size_t)(end - at));
		value = n ? parse_object(at, n) : NULL;
		if (value)
			return value;
		at++;
	}
	return NULL;
}

struct json *judge_find_object(const char *reply, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;
	struct json *value = parse_object(reply, len);
	size_t i;

	if (value || fence_scan(reply, len, FENCE_SKIP_THINKING, &list, &err))
		return value;
	for (i = 0; i < list.count && !value; i++)
		value = parse_object(list.fences[i].code, list.fences[i].code_len);
	if (value || list.thinking_open)
		return value;
	return find_in_prose(reply + list.answer_byte, len - list.answer_byte);
}

/* Whether a part of the reply gives another verdict than this one: a judge that
 * repeats what a program printed must not be taken at the program's word. */
static bool contradicts(const char *reply, size_t len, const char *verdict)
{
	const char *at = reply, *end = reply + len;
	int tries;

	for (tries = 0; tries < OBJECT_TRIES_MAX && (at = memchr(at, '{', (size_t)(end - at)));
	     tries++) {
		size_t n = object_len(at, (size_t)(end - at));
		cleanup_json struct json *o = n ? parse_object(at, n) : NULL;
		const char *other = json_get_string(o, "verdict");

		if (other && strcmp(other, verdict) != 0)
			return true;
		at += o ? n : 1;
	}
	return at != NULL;	/* too many to have looked at them all */
}

static size_t answer_start(const char *reply, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };
	struct error err = ERROR_INIT;

	return fence_scan(reply, len, FENCE_SKIP_THINKING, &list, &err) ? 0 : list.answer_byte;
}

void judge_read(const char *reply, size_t len, struct check_result *ret)
{
	cleanup_json struct json *o = judge_find_object(reply, len);
	const char *verdict = json_get_string(o, "verdict"), *reason = json_get_string(o, "reason");
	size_t start = answer_start(reply, len);
	struct check_result r = { .kind = "judge",
				  .source = CHECK_JUDGE,
				  .verdict = VERDICT_ERROR };

	if (o && verdict && contradicts(reply + start, len - start, verdict)) {
		r.detail = mem_strdup("The judge's reply gives more than one verdict.");
	} else if (!o) {
		r.detail = mem_strdup("The judge's reply holds no JSON object.");
	} else if (verdict && !strcmp(verdict, "pass")) {
		r.verdict = VERDICT_PASS;
	} else if (verdict && !strcmp(verdict, "fail")) {
		r.verdict = VERDICT_FAIL;
	} else {
		r.detail = mem_strdup("The judge's verdict is neither \"pass\" nor \"fail\".");
	}
	if (!r.detail)
		r.detail = mem_strdup(reason && *reason ? reason : "The judge gave no reason.");
	*ret = r;
}
