/*
 * Checks on the output as JSON. An output that is none fails them, with the place where it
 * breaks.
 */
#include "verifier/check/kind.h"

#include "base/mem.h"
#include "verifier/number.h"

#include <stdlib.h>
#include <string.h>

/* --- JSON --- */

static struct json *parse_output(const struct sandbox_result *r, struct buf *why)
{
	const char *s = check_output(r);
	size_t len = r->out.len;

	while (len && strchr(" \t\r\n", s[len - 1]) && s[len - 1])
		len--;
	struct error err = ERROR_INIT;
	struct json *value = json_parse(s, len, JSON_BIG_AS_STRING, &err);
	if (!value) {
		buf_addf(why, "Expected JSON, but the output is none (%.120s): ", err.message);
		check_say_bytes(why, s, r->out.len);
		buf_addch(why, '.');
	}
	return value;
}

/* {"value": V} is that value; text is JSON to be read; nothing: any JSON. */
struct json *check_read_json(const struct json *arg)
{
	if (json_type(arg) == JSON_NULL)
		return json_object();
	if (json_type(arg) == JSON_OBJECT && json_count(arg) == 1 && json_get(arg, "value"))
		return json_copy(arg);
	struct error err = ERROR_INIT;
	struct json *value;
	if (json_type(arg) == JSON_STRING)
		value = json_parse(json_string(arg), strlen(json_string(arg)), JSON_BIG_AS_STRING,
				   &err);
	else
		value = json_copy(arg);
	if (!value)
		return NULL;
	struct json *o = json_object();
	json_set(o, "value", value);
	return o;
}

enum verdict check_evaluate_json(const struct json *arg, const struct sandbox_result *r,
				 struct buf *why)
{
	const struct json *want = json_get(arg, "value");
	cleanup_json struct json *is = parse_output(r, why);

	if (!is)
		return VERDICT_FAIL;
	if (!want) {
		buf_addf(why, "The output is JSON (%s).", json_type_name(json_type(is)));
		return VERDICT_PASS;
	}
	bool holds = json_equal_near(want, is, number_near);
	buf_addstr(why, holds ? "The output is " : "Expected ");
	check_say_json(why, want);
	if (!holds) {
		buf_addstr(why, ", but the output is ");
		check_say_json(why, is);
	}
	buf_addch(why, '.');
	return check_verdict(holds);
}

/* "a.b=VALUE" or "a.b"; {"path": "a.b", "value": V}. */
struct json *check_read_field(const struct json *arg)
{
	const char *text = json_string(arg);

	if (json_type(arg) == JSON_OBJECT)
		return json_get_string(arg, "path") ? json_copy(arg) : NULL;
	if (!text || !*text || *text == '=')
		return NULL;
	const char *equals = strchr(text, '=');
	struct json *o = json_object();
	{
		cleanup_free char *path =
			mem_strndup(text, equals ? (size_t)(equals - text) : strlen(text));

		json_set_string(o, "path", path);
	}
	struct error err = ERROR_INIT;
	if (equals) {
		/* Unquoted words are strings. */
		struct json *value =
			json_parse(equals + 1, strlen(equals + 1), JSON_BIG_AS_STRING, &err);
		json_set(o, "value", value ? value : json_new_string(equals + 1));
	}
	return o;
}

static const struct json *walk(const struct json *at, const char *path)
{
	cleanup_free char *copy = mem_strdup(path);
	char *rest = copy, *step, *end;

	while (at && (step = strsep(&rest, "."))) {
		size_t n = (size_t)strtoul(step, &end, 10);

		if (json_type(at) != JSON_ARRAY) {
			at = json_get(at, step);
			continue;
		}
		if (end == step || *end)
			return NULL;
		for (at = json_first(at); at && n--;)
			at = json_next(at);
	}
	return at;
}

enum verdict check_evaluate_field(const struct json *arg, const struct sandbox_result *r,
				  struct buf *why)
{
	const char *path = json_get_string(arg, "path");
	const struct json *want = json_get(arg, "value");
	cleanup_json struct json *all = parse_output(r, why);

	if (!all)
		return VERDICT_FAIL;
	const struct json *is = walk(all, path);
	if (!is) {
		buf_addf(why, "Expected a field %.100s, but the output has none: ", path);
		check_say_json(why, all);
		buf_addch(why, '.');
		return VERDICT_FAIL;
	}
	buf_addf(why, "The field %.100s is ", path);
	check_say_json(why, is);
	if (want) {
		buf_addstr(why, ", expected ");
		check_say_json(why, want);
	}
	buf_addch(why, '.');
	return check_verdict(!want || json_equal_near(want, is, number_near));
}
