/*
 * How an output misses an expectation from outside, for a model that must find
 * the value and not copy it: where the two part, of what kind and how many
 * lines or members the expected value is, and what the output has there. No
 * byte of the expected value is said.
 */
#include "verifier/check/check.h"
#include "verifier/check/kind.h"

#include "base/diff.h"
#include "base/mem.h"
#include "verifier/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- text --- */

static size_t count_lines(const char *s, size_t len)
{
	size_t n = len > 0;

	for (size_t i = 0; i < len; i++)
		n += s[i] == '\n';
	return n;
}

/* What a line is, in words that fit any value of its kind. */
static const char *shape_of(const char *s, size_t len)
{
	cleanup_free char *text = mem_strndup(s, len);

	if (!len)
		return "an empty line";
	double value, unused;
	if (number_parse(text, &value, &unused))
		return value == floor(value) && !strpbrk(text, ".eE") ? "a whole number" :
									"a number with a fraction";
	if (strpbrk(text, "{[") == text)
		return "a list or an object in brackets";
	if (strchr(text, ','))
		return "values with commas between them";
	if (strpbrk(text, " \t"))
		return strpbrk(text, "0123456789") ? "words and numbers with blanks between them" :
						     "words with blanks between them";
	return strpbrk(text, "0123456789") ? "one word with digits in it" : "one word";
}

static size_t line_len(const char *s, size_t len, size_t from)
{
	const char *nl = from < len ? memchr(s + from, '\n', len - from) : NULL;

	return nl ? (size_t)(nl - s) - from : len - from;
}

/* The same but for what map takes away: case, blanks, the order of bytes. */
static char *reduced(const char *s, size_t len, bool fold, size_t *ret_len)
{
	char *out = mem_alloc(len + 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (fold)
			out[n++] = (char)tolower(c);
		else if (!isspace(c))
			out[n++] = s[i];
	}
	*ret_len = n;
	return out;
}

static bool same_but(const struct buf *want, const struct buf *is, bool fold)
{
	size_t a, b;
	cleanup_free char *x = reduced(want->data, want->len, fold, &a);
	cleanup_free char *y = reduced(is->data, is->len, fold, &b);

	return a == b && !memcmp(x, y, a);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static char **sorted_lines(char *text, size_t count)
{
	char **lines = mem_array(NULL, count + 1, sizeof(*lines));

	for (size_t i = 0; i < count; i++)
		lines[i] = strsep(&text, "\n");
	qsort(lines, count, sizeof(*lines), compare_lines);
	return lines;
}

/* No line of want holds a NUL, so one in the output differs. */
static bool same_lines(const struct buf *want, const struct buf *is, size_t count)
{
	cleanup_free char *a = mem_strndup(want->data, want->len);
	cleanup_free char *b = mem_strndup(is->data, is->len);

	if (memchr(is->data, '\0', is->len))
		return false;
	cleanup_free char **x = sorted_lines(a, count);
	cleanup_free char **y = sorted_lines(b, count);
	for (size_t i = 0; i < count; i++)
		if (strcmp(x[i], y[i]))
			return false;
	return true;
}

static void hint_counts(struct buf *out, size_t want, size_t is)
{
	buf_addf(out, " %zu line%s expected, the output has %zu.", want,
		 want == 1 ? " is" : "s are", is);
}

/* Where they part, and what the output has there. */
static void hint_place(struct buf *out, const struct buf *want, const struct buf *is)
{
	struct diff_place p = diff_place(want->data, want->len, is->data, is->len);

	buf_addf(out, " The first difference is at line %zu, column %zu", p.line,
		 p.at - p.start + 1);
	if (p.at >= is->len) {
		buf_addstr(out, ", where the output ends");
	} else {
		buf_addstr(out, ": the output has ");
		check_say_bytes(out, is->data + p.start, line_len(is->data, is->len, p.start));
	}
	if (p.at >= want->len)
		buf_addstr(out, ", and nothing more is expected");
	else
		buf_addf(out, ", where %s is expected",
			 shape_of(want->data + p.start, line_len(want->data, want->len, p.start)));
	buf_addch(out, '.');
}

static void hint_text(struct buf *out, const char *expected, const struct sandbox_result *r)
{
	cleanup_buf struct buf want = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);

	check_canonical_text(&want, expected, strlen(expected));
	check_canonical_text(&is, check_output(r), r->out.len);
	size_t a = count_lines(want.data, want.len);
	size_t b = count_lines(is.data, is.len);
	if (!is.len) {
		buf_addstr(out, " The output is empty.");
		hint_counts(out, a, b);
		return;
	}
	if (same_but(&want, &is, false))
		buf_addstr(out, " Only blanks and line ends differ.");
	else if (same_but(&want, &is, true))
		buf_addstr(out, " Only upper and lower case differ.");
	else if (a == b && a > 1 && same_lines(&want, &is, a))
		buf_addstr(out, " The lines are right, but in another order.");
	else if (want.len && memmem(is.data, is.len, want.data, want.len))
		buf_addstr(out, " What is expected is in the output, with more around it.");
	hint_counts(out, a, b);
	hint_place(out, &want, &is);
}

static void hint_contains(struct buf *out, const char *expected, const struct sandbox_result *r)
{
	size_t lines = count_lines(expected, strlen(expected));

	buf_addf(out, " It must have %s in it",
		 lines > 1 ? "certain lines" : shape_of(expected, strlen(expected)));
	buf_addf(out, ", which its %zu bytes do not.", r->out.len);
}

/* --- numbers --- */

static void hint_number(struct buf *out, const struct json *arg, bool is_sum,
			const struct sandbox_result *r)
{
	double want = json_get_number(arg, "value", 0);
	size_t count;
	cleanup_free double *list = number_sequence(check_output(r), r->out.len, &count);

	if (!count) {
		buf_addstr(out, " A number is expected, and the output has none.");
		return;
	}
	double is = 0;
	struct number last;
	if (!is_sum && number_last(check_output(r), r->out.len, &last))
		is = last.value;
	for (size_t i = 0; is_sum && i < count; i++)
		is += list[i];
	buf_addf(out, " %s is %.16g, which is %s; %s is expected.",
		 is_sum ? "The sum of the numbers" : "The last number of the output", is,
		 is > want ? "too large" :
		 is < want ? "too small" :
			     "not exactly it",
		 want == floor(want) ? "a whole number" : "a number with a fraction");
}

/* --- JSON --- */

static void hint_type(struct buf *out, const struct json *want)
{
	buf_addf(out, "%s", json_type_name(json_type(want)));
	if (json_type(want) == JSON_ARRAY || json_type(want) == JSON_OBJECT)
		buf_addf(out, " of %zu", json_count(want));
}

static void hint_values(struct buf *out, const char *path, const struct json *want,
			const struct json *is)
{
	buf_addf(out, " At %.200s the output has ", *path ? path : "the top");
	check_say_json(out, is);
	buf_addstr(out, json_type(want) == json_type(is) ? ", where another " : ", where ");
	hint_type(out, want);
	buf_addstr(out, " is expected.");
}

#define DEPTH_MAX 64

/* The first place where they part. Names are the output's own. */
static void hint_json(struct buf *out, const char *path, const struct json *want,
		      const struct json *is, int depth)
{
	bool array = json_type(is) == JSON_ARRAY;

	if (json_type(want) != json_type(is) || json_count(want) != json_count(is) ||
	    depth > DEPTH_MAX || (!array && json_type(is) != JSON_OBJECT)) {
		hint_values(out, path, want, is);
		return;
	}
	const struct json *w = array ? json_first(want) : NULL;
	size_t n = 0;
	for (const struct json *i = json_first(is); i; i = json_next(i), n++) {
		cleanup_free char *below = array ? mem_printf("%s[%zu]", path, n) :
						   mem_printf("%s.%s", path, json_key(i));

		w = array ? w : json_get(want, json_key(i));
		if (!w) {
			buf_addf(out,
				 " The member %.200s is not expected, and another one is missing.",
				 below);
			return;
		}
		if (!json_equal_near(w, i, number_near)) {
			hint_json(out, below, w, i, depth + 1);
			return;
		}
		w = array ? json_next(w) : NULL;
	}
}

static void hint_document(struct buf *out, const struct json *arg, const struct sandbox_result *r)
{
	const struct json *want = json_get(arg, "value");
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);

	check_canonical_text(&text, check_output(r), r->out.len);
	struct error err = ERROR_INIT;
	cleanup_json struct json *is =
		json_parse(text.data ? text.data : "", text.len, JSON_BIG_AS_STRING, &err);
	if (!is)
		buf_addf(out, " The output must be one JSON document, and is none (%.120s).",
			 err.message);
	else if (want && !json_get_string(arg, "path"))
		hint_json(out, "", want, is, 0);
	else if (want) {
		buf_addstr(out,
			   " A field of this JSON is missing or has another value; expected is ");
		hint_type(out, want);
		buf_addch(out, '.');
	}
}

void check_hint(struct buf *out, const struct check *c, const struct sandbox_result *r)
{
	const char *text = json_string(c->arg);

	if (r->out.truncated)
		buf_addstr(out, " The output was cut, so it cannot be compared.");
	else if (!strcmp(c->kind, "contains") && text)
		hint_contains(out, text, r);
	else if (text)
		hint_text(out, text, r);
	else if (!strcmp(c->kind, "number") || !strcmp(c->kind, "sum"))
		hint_number(out, c->arg, !strcmp(c->kind, "sum"), r);
	else if (!strcmp(c->kind, "json") || !strcmp(c->kind, "field"))
		hint_document(out, c->arg, r);
}
