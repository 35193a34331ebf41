/*
 * What the checks want, in words: for the model, which reads it as a demand, and for help. No
 * output may be judged here. Of a check that holds the answer these words hold it too; who may see
 * them is the caller's to know.
 */
#include "verifier/check/check.h"
#include "verifier/check/kind.h"

#include "base/mem.h"

#include <string.h>

static void add_value(struct buf *out, const struct json *value)
{
	cleanup_free char *printed = json_string(value) ? NULL : json_print(value);

	buf_addstr(out, printed ? printed : json_string(value));
}

/* "5", "between 3 and 5", "at least 3", "at most 5"; false when neither is there. */
static bool add_bounds(struct buf *out, const struct json *min, const struct json *max)
{
	if (min && max && json_equal(min, max)) {
		add_value(out, min);
		return true;
	}
	if (min || max)
		buf_addstr(out, min && max ? "between " : min ? "at least " : "at most ");
	if (min)
		add_value(out, min);
	if (min && max)
		buf_addstr(out, " and ");
	if (max)
		add_value(out, max);
	return min || max;
}

/* "": the argument itself; "a": that member; "a..b": bounds. False when it is missing. */
static bool add_placeholder(struct buf *out, const struct json *arg, const char *name, size_t len)
{
	const char *dots = memmem(name, len, "..", 2);
	size_t first_len = dots ? (size_t)(dots - name) : len;
	cleanup_free char *first = mem_strndup(name, first_len);
	cleanup_free char *second = dots ? mem_strndup(dots + 2, len - first_len - 2) : NULL;
	const struct json *value = *first ? json_get(arg, first) : arg;

	if (second)
		return add_bounds(out, value, json_get(arg, second));
	if (!value)
		return false;
	add_value(out, value);
	return true;
}

/* Up to end; false when something that stands there in braces is missing. */
static bool add_words(struct buf *out, const struct json *arg, const char *words, const char *end)
{
	bool whole = true;

	for (; words < end; words++) {
		if (*words != '{') {
			buf_addch(out, *words);
			continue;
		}
		const char *close = strchr(words, '}');
		whole = add_placeholder(out, arg, words + 1, (size_t)(close - words - 1)) && whole;
		words = close;
	}
	return whole;
}

void check_describe(struct buf *out, const struct check *check)
{
	const struct check_kind *kind = check_kind_find(check->kind);
	const char *at = kind->says ? kind->says : kind->help, *open, *close;

	for (; (open = strchr(at, '[')); at = close + 1) {
		cleanup_buf struct buf optional = BUF_INIT(out->max);

		close = strchr(open, ']');
		add_words(out, check->arg, at, open);
		if (add_words(&optional, check->arg, open + 1, close))
			buf_add(out, optional.data, optional.len);
	}
	add_words(out, check->arg, at, at + strlen(at));
}

void check_describe_kinds(struct buf *out)
{
	const struct check_kind *k;

	for (size_t i = 0; (k = check_kind_at(i)); i++)
		buf_addf(out, "%-14s %s (%s)\n", k->name, k->help, k->example);
}

void check_list_kinds(struct buf *out)
{
	const struct check_kind *k;

	for (size_t i = 0; (k = check_kind_at(i)); i++)
		if (!k->holds_answer)
			buf_addf(out, "%s%s", out->len ? ", " : "", k->example);
}
