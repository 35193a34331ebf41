/*
 * Checks on the output as text. Patterns run within the effort of all checks together; one that
 * ran out is an error, not a failure of the program.
 */
#include "verifier/check/check.h"
#include "verifier/check/kind.h"

#include "base/diff.h"
#include "base/mem.h"
#include "base/regex.h"
#include "verifier/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- text --- */

struct json *check_read_text(const struct json *arg)
{
	if (json_type(arg) == JSON_STRING)
		return json_copy(arg);
	if (json_type(arg) != JSON_NUMBER && json_type(arg) != JSON_BOOL)
		return NULL;
	cleanup_free char *printed = json_print(arg);
	return json_new_string(printed);
}

static size_t line_end(const char *s, size_t len, size_t from)
{
	const char *nl = memchr(s + from, '\n', len - from);

	return nl ? (size_t)(nl - s) : len;
}

/* Where texts of several lines part: the one sentence that helps to repair. */
static void say_difference(struct buf *why, const char *want, size_t want_len, const char *is,
			   size_t is_len)
{
	if (!memchr(want, '\n', want_len) && !memchr(is, '\n', is_len))
		return;
	struct diff_place p = diff_place(want, want_len, is, is_len);
	buf_addf(why, " They part at line %zu, column %zu: expected ", p.line, p.at - p.start + 1);
	check_say_bytes(why, want + p.start, line_end(want, want_len, p.start) - p.start);
	buf_addstr(why, ", got ");
	check_say_bytes(why, is + p.start, line_end(is, is_len, p.start) - p.start);
	buf_addch(why, '.');
}

static void compare(bool same, const char *want, size_t want_len, const struct sandbox_result *r,
		    struct buf *why)
{
	buf_addstr(why, same ? "The output is " : "Expected ");
	check_say_bytes(why, want, want_len);
	if (!same) {
		buf_addstr(why, ", but the output is ");
		check_say_bytes(why, check_output(r), r->out.len);
	}
	buf_addch(why, '.');
}

static enum verdict equal_texts(const char *text, size_t len, const struct sandbox_result *r,
				struct buf *why)
{
	cleanup_buf struct buf want = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);

	check_canonical_text(&want, text, len);
	check_canonical_text(&is, check_output(r), r->out.len);
	bool same = want.len == is.len && !memcmp(want.data, is.data, is.len);
	compare(same, text, len, r, why);
	if (!same)
		say_difference(why, want.data, want.len, is.data, is.len);
	return check_verdict(same);
}

enum verdict check_evaluate_equals(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	return equal_texts(json_string(arg), strlen(json_string(arg)), r, why);
}

void check_outputs_agree(const struct sandbox_result *first, const struct sandbox_result *second,
			 struct check_result *ret)
{
	struct check_result r = { .kind = "equals", .source = CHECK_CROSS_CHECK };
	cleanup_buf struct buf why = BUF_INIT(1 << 16);

	if (first->out.truncated || second->out.truncated) {
		r.verdict = VERDICT_ERROR;
		buf_addstr(&why, "An output was cut, so the two programs cannot be compared.");
	} else {
		r.verdict = equal_texts(check_output(first), first->out.len, second, &why);
	}
	r.detail = buf_take(&why, NULL);
	*ret = r;
}

enum verdict check_evaluate_exact(const struct json *arg, const struct sandbox_result *r,
				  struct buf *why)
{
	const char *text = json_string(arg);
	size_t len = strlen(text);
	bool same = len == r->out.len && !memcmp(text, check_output(r), len);

	compare(same, text, len, r, why);
	if (!same)
		say_difference(why, text, len, check_output(r), r->out.len);
	return check_verdict(same);
}

bool check_vacuous_text(const struct json *arg)
{
	const char *text = json_string(arg);

	return !text || text[strspn(text, " \t\r\n")] == '\0';
}

enum verdict check_evaluate_contains(const struct json *arg, const struct sandbox_result *r,
				     struct buf *why)
{
	cleanup_buf struct buf want = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);
	const char *text = json_string(arg);

	check_canonical_text(&want, text, strlen(text));
	check_canonical_text(&is, check_output(r), r->out.len);
	bool holds = memmem(is.data, is.len, want.data, want.len) != NULL;
	buf_addstr(why, holds ? "The output contains " : "Expected the output to contain ");
	check_say_bytes(why, text, strlen(text));
	if (!holds) {
		buf_addstr(why, ", but it is ");
		check_say_bytes(why, check_output(r), r->out.len);
	}
	buf_addch(why, '.');
	return check_verdict(holds);
}

/* --- regex --- */

struct json *check_read_regex(const struct json *arg)
{
	struct error err = ERROR_INIT;
	const char *pattern = json_string(arg);

	return pattern && regex_check(pattern, REGEX_MULTILINE, &err) == 0 ? json_copy(arg) : NULL;
}

enum verdict check_search_regex(const struct json *arg, const struct sandbox_result *r,
				struct regex_effort *effort, struct buf *why)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re =
		regex_compile_within(json_string(arg), REGEX_MULTILINE, effort, &err);
	int found = re ? regex_search_within(re, check_output(r), r->out.len, effort, &err) : -1;

	if (found < 0) {
		buf_addf(why, "The pattern could not be tried: %s.", err.message);
		return VERDICT_ERROR;
	}
	buf_addstr(why, found ? "The output matches " : "Expected the output to match ");
	check_say_bytes(why, json_string(arg), strlen(json_string(arg)));
	if (!found) {
		buf_addstr(why, ", but it is ");
		check_say_bytes(why, check_output(r), r->out.len);
	}
	buf_addch(why, '.');
	return check_verdict(found > 0);
}

/* A pattern that the empty text matches, and a text of no sense too. */
bool check_matches_all_regex(const struct json *arg, struct regex_effort *effort)
{
	static const char nonsense[] = "\x01~q";
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re =
		regex_compile_within(json_string(arg), REGEX_MULTILINE, effort, &err);

	return re && regex_search_within(re, "", 0, effort, &err) == 1 &&
	       regex_search_within(re, nonsense, sizeof(nonsense) - 1, effort, &err) == 1;
}

/* --- counting --- */

struct json *check_read_count(const struct json *arg)
{
	const char *text = json_string(arg);

	if (json_type(arg) == JSON_OBJECT) {
		if (!json_get_string(arg, "text") || !*json_get_string(arg, "text") ||
		    json_get_int(arg, "count", -1) < 0)
			return NULL;
		return json_copy(arg);
	}
	const char *colon = text ? strchr(text, ':') : NULL;
	if (!colon || !colon[1])
		return NULL;
	double n, unused;
	{
		cleanup_free char *number = mem_strndup(text, (size_t)(colon - text));

		if (!number_parse(number, &n, &unused) || n < 0 || n != floor(n))
			return NULL;
	}
	struct json *o = json_object();
	json_set_string(o, "text", colon + 1);
	json_set_number(o, "count", n);
	return o;
}

enum verdict check_evaluate_count(const struct json *arg, const struct sandbox_result *r,
				  struct buf *why)
{
	const char *text = json_get_string(arg, "text"), *at = check_output(r),
		   *end = at + r->out.len;
	int64_t want = json_get_int(arg, "count", 0), is = 0;

	for (; (at = memmem(at, (size_t)(end - at), text, strlen(text))); at += strlen(text))
		is++;
	check_say_bytes(why, text, strlen(text));
	buf_addf(why, " is in the output %lld times, expected %lld.", (long long)is,
		 (long long)want);
	return check_verdict(is == want);
}
