#include "verifier/check_kind.h"

#include "base/mem.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "verifier/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 200

/* --- saying what was there --- */

/* Text in quotes, cut, on one line, for a sentence. */
static void show_bytes(struct buf *why, const char *s, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(SHOWN_MAX * 4 + 16);
	size_t n = len > SHOWN_MAX ? SHOWN_MAX : len, i;

	utf8_repair(&clean, s, n);
	buf_addch(why, '"');
	for (i = 0; i < clean.len; i++)
		if (clean.data[i] == '\n')
			buf_addstr(why, "\\n");
		else
			buf_addch(why, clean.data[i]);
	buf_addstr(why, len > SHOWN_MAX ? "…\"" : "\"");
}

static void show_json(struct buf *why, const struct json *value)
{
	cleanup_free char *text = json_print(value);
	size_t len = strlen(text);

	buf_addf(why, "%.*s%s", SHOWN_MAX, text, len > SHOWN_MAX ? "…" : "");
}

static enum verdict verdict_of(bool holds)
{
	return holds ? VERDICT_PASS : VERDICT_FAIL;
}

static const char *output(const struct sandbox_result *result)
{
	return result->out.bytes ? result->out.bytes : "";
}

/* --- text --- */

/* What equal texts have in common: NFC, no blanks at line ends, no empty lines
 * at the end, \n as line ending. */
static void canonical_text(struct buf *out, const char *s, size_t len)
{
	cleanup_buf struct buf nfc = BUF_INIT(BUF_MAX_DEFAULT);
	size_t start, end, stop;
	const char *nl;

	utf8_normalise(&nfc, s, len);
	for (start = 0; start < nfc.len; start = end + 1) {
		nl = memchr(nfc.data + start, '\n', nfc.len - start);
		end = nl ? (size_t)(nl - nfc.data) : nfc.len;
		stop = end;
		while (stop > start && strchr(" \t\r", nfc.data[stop - 1]) && nfc.data[stop - 1])
			stop--;
		buf_add(out, nfc.data + start, stop - start);
		buf_addch(out, '\n');
	}
	while (out->len && out->data[out->len - 1] == '\n')
		out->data[--out->len] = '\0';
}

static struct json *read_text(const struct json *arg)
{
	cleanup_free char *printed = NULL;

	if (json_type(arg) == JSON_STRING)
		return json_copy(arg);
	if (json_type(arg) != JSON_NUMBER && json_type(arg) != JSON_BOOL)
		return NULL;
	printed = json_print(arg);
	return json_new_string(printed);
}

static enum verdict compare(bool same, const char *want, const struct sandbox_result *r,
			    struct buf *why)
{
	buf_addstr(why, same ? "The output is " : "Expected ");
	show_bytes(why, want, strlen(want));
	if (!same) {
		buf_addstr(why, ", but the output is ");
		show_bytes(why, output(r), r->out.len);
	}
	buf_addch(why, '.');
	return verdict_of(same);
}

static enum verdict evaluate_equals(const struct json *arg, const struct sandbox_result *r,
				    struct buf *why)
{
	cleanup_buf struct buf want = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);
	const char *text = json_string(arg);

	canonical_text(&want, text, strlen(text));
	canonical_text(&is, output(r), r->out.len);
	return compare(want.len == is.len && !memcmp(want.data, is.data, is.len), text, r, why);
}

static enum verdict evaluate_exact(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	const char *text = json_string(arg);
	size_t len = strlen(text);

	return compare(len == r->out.len && !memcmp(text, output(r), len), text, r, why);
}

static bool vacuous_text(const struct json *arg)
{
	const char *text = json_string(arg);

	return !text || text[strspn(text, " \t\r\n")] == '\0';
}

static enum verdict evaluate_contains(const struct json *arg, const struct sandbox_result *r,
				      struct buf *why)
{
	cleanup_buf struct buf want = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);
	const char *text = json_string(arg);
	bool holds;

	canonical_text(&want, text, strlen(text));
	canonical_text(&is, output(r), r->out.len);
	holds = memmem(is.data, is.len, want.data, want.len) != NULL;
	buf_addstr(why, holds ? "The output contains " : "Expected the output to contain ");
	show_bytes(why, text, strlen(text));
	if (!holds) {
		buf_addstr(why, ", but it is ");
		show_bytes(why, output(r), r->out.len);
	}
	buf_addch(why, '.');
	return verdict_of(holds);
}

/* --- regex --- */

static struct json *read_regex(const struct json *arg)
{
	struct error err = ERROR_INIT;
	const char *pattern = json_string(arg);
	cleanup_regex struct regex *re = pattern ?
		regex_compile(pattern, REGEX_MULTILINE, &err) : NULL;

	return re ? json_copy(arg) : NULL;
}

static enum verdict evaluate_regex(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(json_string(arg), REGEX_MULTILINE, &err);
	int found = re ? regex_search(re, output(r), r->out.len, 0, NULL, 0, &err) : -1;

	if (found < 0) {
		buf_addf(why, "The pattern could not be tried: %s.", err.message);
		return VERDICT_ERROR;
	}
	buf_addstr(why, found ? "The output matches " : "Expected the output to match ");
	show_bytes(why, json_string(arg), strlen(json_string(arg)));
	if (!found) {
		buf_addstr(why, ", but it is ");
		show_bytes(why, output(r), r->out.len);
	}
	buf_addch(why, '.');
	return verdict_of(found > 0);
}

/* A pattern that the empty text matches, and a text of no sense too. */
static bool vacuous_regex(const struct json *arg)
{
	static const char nonsense[] = "\x01~q";
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *re = regex_compile(json_string(arg), REGEX_MULTILINE, &err);

	return re && regex_search(re, "", 0, 0, NULL, 0, &err) == 1 &&
	       regex_search(re, nonsense, sizeof(nonsense) - 1, 0, NULL, 0, &err) == 1;
}

/* --- numbers --- */

static struct json *number_object(double value, double tolerance)
{
	struct json *o = json_object();

	json_set_number(o, "value", value);
	if (tolerance >= 0)
		json_set_number(o, "tolerance", tolerance);
	return o;
}

static struct json *read_number(const struct json *arg)
{
	double value, tolerance = json_get_number(arg, "tolerance", -1);

	if (json_type(arg) == JSON_STRING)
		return number_parse(json_string(arg), &value, &tolerance) ?
		       number_object(value, tolerance) : NULL;
	if (json_type(arg) == JSON_OBJECT)
		arg = json_get(arg, "value");
	if (json_type(arg) != JSON_NUMBER)
		return NULL;
	return number_object(json_number(arg, 0), tolerance);
}

static void say_number(struct buf *why, const struct json *arg)
{
	double tolerance = json_get_number(arg, "tolerance", -1);

	buf_addf(why, "%.15g", json_get_number(arg, "value", 0));
	if (tolerance >= 0)
		buf_addf(why, "±%g", tolerance);
}

static enum verdict say_no_number(const struct sandbox_result *r, struct buf *why)
{
	buf_addstr(why, "Expected a number, but the output has none: ");
	show_bytes(why, output(r), r->out.len);
	buf_addch(why, '.');
	return VERDICT_FAIL;
}

static enum verdict near(const struct json *arg, const char *what, double is, struct buf *why)
{
	bool holds = number_close(is, json_get_number(arg, "value", 0),
				  json_get_number(arg, "tolerance", -1));

	buf_addf(why, "%s is %.15g, expected ", what, is);
	say_number(why, arg);
	buf_addch(why, '.');
	return verdict_of(holds);
}

static enum verdict evaluate_number(const struct json *arg, const struct sandbox_result *r,
				    struct buf *why)
{
	double is;

	if (!number_last(output(r), r->out.len, &is))
		return say_no_number(r, why);
	return near(arg, "The last number of the output", is, why);
}

static enum verdict evaluate_sum(const struct json *arg, const struct sandbox_result *r,
				 struct buf *why)
{
	size_t count, i;
	cleanup_free double *list = number_sequence(output(r), r->out.len, &count);
	double sum = 0;

	if (!count)
		return say_no_number(r, why);
	for (i = 0; i < count; i++)
		sum += list[i];
	return near(arg, "The sum of the numbers", sum, why);
}

/* --- ranges: "a..b", [a, b], {"min", "max"}, either end may be open --- */

static struct json *range_object(double min, double max)
{
	struct json *o = json_object();

	if (isfinite(min))
		json_set_number(o, "min", min);
	if (isfinite(max))
		json_set_number(o, "max", max);
	return o;
}

static struct json *read_range_text(const char *text)
{
	double min = -INFINITY, max = INFINITY;
	const char *dots = strstr(text, "..");
	char *end;

	if (!dots)
		return NULL;
	if (dots > text) {
		min = strtod(text, &end);
		/* "1..5": strtod takes "1." and leaves ".5" */
		if (end == text || end < dots || end > dots + 1)
			return NULL;
	}
	if (dots[2]) {
		max = strtod(dots + 2, &end);
		if (end == dots + 2 || *end)
			return NULL;
	}
	return min <= max ? range_object(min, max) : NULL;
}

static struct json *read_range(const struct json *arg)
{
	const struct json *first = json_first(arg);
	double min, max;

	if (json_type(arg) == JSON_STRING)
		return read_range_text(json_string(arg));
	if (json_type(arg) == JSON_ARRAY && json_count(arg) == 2) {
		min = json_number(first, NAN);
		max = json_number(json_next(first), NAN);
	} else if (json_type(arg) == JSON_OBJECT) {
		min = json_get_number(arg, "min", -INFINITY);
		max = json_get_number(arg, "max", INFINITY);
	} else {
		return NULL;
	}
	return min <= max ? range_object(min, max) : NULL;
}

static bool vacuous_range(const struct json *arg)
{
	return !json_get(arg, "min") && !json_get(arg, "max");
}

static void say_range(struct buf *why, const struct json *arg)
{
	if (json_get(arg, "min"))
		buf_addf(why, "%.15g", json_get_number(arg, "min", 0));
	buf_addstr(why, "..");
	if (json_get(arg, "max"))
		buf_addf(why, "%.15g", json_get_number(arg, "max", 0));
}

static enum verdict within(const struct json *arg, const char *what, double is, struct buf *why)
{
	bool holds = is >= json_get_number(arg, "min", -INFINITY) &&
		     is <= json_get_number(arg, "max", INFINITY);

	buf_addf(why, "%s is %.15g, expected ", what, is);
	say_range(why, arg);
	buf_addch(why, '.');
	return verdict_of(holds);
}

static enum verdict evaluate_range(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	double is;

	if (!number_last(output(r), r->out.len, &is))
		return say_no_number(r, why);
	return within(arg, "The last number of the output", is, why);
}

/* --- lines --- */

static struct json *read_lines(const struct json *arg)
{
	double n = json_number(arg, -1), tolerance;

	if (json_type(arg) == JSON_STRING && !number_parse(json_string(arg), &n, &tolerance))
		return read_range(arg);
	if (json_type(arg) == JSON_OBJECT || json_type(arg) == JSON_ARRAY)
		return read_range(arg);
	return n >= 0 && n == floor(n) ? range_object(n, n) : NULL;
}

/* Lines of output, without empty ones at the end. */
static char **split_lines(const struct sandbox_result *r, char **ret_text, size_t *ret_count)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	char **lines = NULL, *rest, *line;
	size_t count = 0;

	canonical_text(&text, output(r), r->out.len);
	*ret_text = buf_take(&text, NULL);
	for (rest = *ret_text; **ret_text && (line = strsep(&rest, "\n")); count++) {
		if ((count & (count - 1)) == 0)
			lines = mem_array(lines, count ? count * 2 : 1, sizeof(*lines));
		lines[count] = line;
	}
	*ret_count = count;
	return lines;
}

static enum verdict evaluate_lines(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	cleanup_free char *text = NULL;
	size_t count;
	cleanup_free char **lines = split_lines(r, &text, &count);

	(void)lines;
	return within(arg, "The number of output lines", (double)count, why);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static struct json *read_nothing(const struct json *arg)
{
	(void)arg;
	return json_object();
}

static enum verdict evaluate_unique(const struct json *arg, const struct sandbox_result *r,
				    struct buf *why)
{
	cleanup_free char *text = NULL;
	size_t count, i;
	cleanup_free char **lines = split_lines(r, &text, &count);

	(void)arg;
	if (count < 2) {
		buf_addf(why, "Expected several lines that all differ, but there %s %zu.",
			 count == 1 ? "is" : "are", count);
		return VERDICT_FAIL;
	}
	qsort(lines, count, sizeof(*lines), compare_strings);
	for (i = 1; i < count; i++) {
		if (strcmp(lines[i - 1], lines[i]) != 0)
			continue;
		buf_addstr(why, "Expected all lines to differ, but this one is there twice: ");
		show_bytes(why, lines[i], strlen(lines[i]));
		buf_addch(why, '.');
		return VERDICT_FAIL;
	}
	buf_addf(why, "All %zu lines differ.", count);
	return VERDICT_PASS;
}

/* --- sequences --- */

static enum verdict evaluate_nonnegative(const struct json *arg, const struct sandbox_result *r,
					 struct buf *why)
{
	size_t at = 0, count = 0;
	double value;

	(void)arg;
	for (; number_next(output(r), r->out.len, &at, &value); count++)
		if (value < 0) {
			buf_addf(why, "Expected no negative number, but there is %.15g.", value);
			return VERDICT_FAIL;
		}
	if (!count)
		return say_no_number(r, why);
	buf_addf(why, "None of %zu numbers is negative.", count);
	return VERDICT_PASS;
}

static const char *const directions[] = { "increasing", "decreasing", "strictly increasing",
					  "strictly decreasing" };

static struct json *read_direction(const struct json *arg)
{
	const char *word = json_string(arg);
	size_t i;

	if (json_type(arg) == JSON_NULL)
		return json_new_string(directions[0]);
	for (i = 0; word && i < ARRAY_SIZE(directions); i++)
		if (!strcmp(word, directions[i]))
			return json_copy(arg);
	return NULL;
}

static bool in_order(double a, double b, const char *direction)
{
	if (strstr(direction, "decreasing"))
		return direction[0] == 's' ? a > b : a >= b;
	return direction[0] == 's' ? a < b : a <= b;
}

static enum verdict ordered(const double *list, size_t count, const char *direction,
			    struct buf *why)
{
	size_t i;

	if (count < 2) {
		buf_addf(why, "Expected several numbers, %s, but the output has %zu.", direction,
			 count);
		return VERDICT_FAIL;
	}
	for (i = 1; i < count; i++)
		if (!in_order(list[i - 1], list[i], direction)) {
			buf_addf(why, "Expected numbers %s, but %.15g comes before %.15g.",
				 direction, list[i - 1], list[i]);
			return VERDICT_FAIL;
		}
	buf_addf(why, "All %zu numbers are %s.", count, direction);
	return VERDICT_PASS;
}

static enum verdict evaluate_monotone(const struct json *arg, const struct sandbox_result *r,
				      struct buf *why)
{
	size_t count;
	cleanup_free double *list = number_sequence(output(r), r->out.len, &count);

	return ordered(list, count, json_string(arg), why);
}

/* Lines in order: by number when each line is one, else by bytes. */
static enum verdict evaluate_sorted(const struct json *arg, const struct sandbox_result *r,
				    struct buf *why)
{
	cleanup_free char *text = NULL;
	size_t count, numbers = 0, i;
	cleanup_free char **lines = split_lines(r, &text, &count);
	cleanup_free double *list = mem_alloc(count * sizeof(*list));
	bool down = strstr(json_string(arg), "decreasing") != NULL;
	double unused;

	for (i = 0; i < count; i++)
		numbers += number_parse(lines[i], &list[i], &unused);
	if (numbers == count)
		return ordered(list, count, json_string(arg), why);
	for (i = 1; i < count; i++) {
		int order = strcmp(lines[i - 1], lines[i]);

		if (down ? order >= 0 : order <= 0)
			continue;
		buf_addstr(why, "Expected sorted lines, but ");
		show_bytes(why, lines[i - 1], strlen(lines[i - 1]));
		buf_addstr(why, " comes before ");
		show_bytes(why, lines[i], strlen(lines[i]));
		buf_addch(why, '.');
		return VERDICT_FAIL;
	}
	buf_addf(why, "%zu lines are sorted.", count);
	return verdict_of(count > 1);
}

static enum verdict evaluate_probabilities(const struct json *arg, const struct sandbox_result *r,
					   struct buf *why)
{
	size_t count, i;
	cleanup_free double *list = number_sequence(output(r), r->out.len, &count);
	double sum = 0;

	(void)arg;
	if (!count)
		return say_no_number(r, why);
	for (i = 0; i < count; i++) {
		if (list[i] < 0 || list[i] > 1) {
			buf_addf(why, "Expected probabilities, but %.15g is not between 0 and 1.",
				 list[i]);
			return VERDICT_FAIL;
		}
		sum += list[i];
	}
	/* Printed values are rounded: each may be off by half of the last digit. */
	buf_addf(why, "%zu probabilities add to %.15g, expected 1.", count, sum);
	return verdict_of(number_close(sum, 1, 0.005 + 0.0005 * (double)count));
}

/* --- counting --- */

static struct json *read_count(const struct json *arg)
{
	const char *text = json_string(arg), *colon;
	double n, unused;
	struct json *o;

	if (json_type(arg) == JSON_OBJECT) {
		if (!json_get_string(arg, "text") || !*json_get_string(arg, "text") ||
		    json_get_int(arg, "count", -1) < 0)
			return NULL;
		return json_copy(arg);
	}
	colon = text ? strchr(text, ':') : NULL;
	if (!colon || !colon[1])
		return NULL;
	{
		cleanup_free char *number = mem_strndup(text, (size_t)(colon - text));

		if (!number_parse(number, &n, &unused) || n < 0 || n != floor(n))
			return NULL;
	}
	o = json_object();
	json_set_string(o, "text", colon + 1);
	json_set_number(o, "count", n);
	return o;
}

static enum verdict evaluate_count(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	const char *text = json_get_string(arg, "text"), *at = output(r), *end = at + r->out.len;
	int64_t want = json_get_int(arg, "count", 0), is = 0;

	for (; (at = memmem(at, (size_t)(end - at), text, strlen(text))); at += strlen(text))
		is++;
	show_bytes(why, text, strlen(text));
	buf_addf(why, " is in the output %lld times, expected %lld.", (long long)is,
		 (long long)want);
	return verdict_of(is == want);
}

/* --- JSON --- */

static struct json *parse_output(const struct sandbox_result *r, struct buf *why)
{
	struct error err = ERROR_INIT;
	const char *s = output(r);
	size_t len = r->out.len;
	struct json *value;

	while (len && strchr(" \t\r\n", s[len - 1]) && s[len - 1])
		len--;
	value = json_parse(s, len, JSON_BIG_AS_STRING, &err);
	if (!value) {
		buf_addf(why, "Expected JSON, but the output is none (%.120s): ", err.message);
		show_bytes(why, s, r->out.len);
		buf_addch(why, '.');
	}
	return value;
}

/* {"value": V} is that value; text is JSON to be read; nothing: any JSON. */
static struct json *read_json(const struct json *arg)
{
	struct error err = ERROR_INIT;
	struct json *o, *value;

	if (json_type(arg) == JSON_NULL)
		return json_object();
	if (json_type(arg) == JSON_OBJECT && json_count(arg) == 1 && json_get(arg, "value"))
		return json_copy(arg);
	if (json_type(arg) == JSON_STRING)
		value = json_parse(json_string(arg), strlen(json_string(arg)), 0, &err);
	else
		value = json_copy(arg);
	if (!value)
		return NULL;
	o = json_object();
	json_set(o, "value", value);
	return o;
}

static enum verdict evaluate_json(const struct json *arg, const struct sandbox_result *r,
				  struct buf *why)
{
	const struct json *want = json_get(arg, "value");
	cleanup_json struct json *is = parse_output(r, why);
	bool holds;

	if (!is)
		return VERDICT_FAIL;
	if (!want) {
		buf_addf(why, "The output is JSON (%s).", json_type_name(json_type(is)));
		return VERDICT_PASS;
	}
	holds = json_equal(want, is);
	buf_addstr(why, holds ? "The output is " : "Expected ");
	show_json(why, want);
	if (!holds) {
		buf_addstr(why, ", but the output is ");
		show_json(why, is);
	}
	buf_addch(why, '.');
	return verdict_of(holds);
}

/* "a.b=VALUE" or "a.b"; {"path": "a.b", "value": V}. */
static struct json *read_field(const struct json *arg)
{
	struct error err = ERROR_INIT;
	const char *text = json_string(arg), *equals;
	struct json *o, *value;

	if (json_type(arg) == JSON_OBJECT)
		return json_get_string(arg, "path") ? json_copy(arg) : NULL;
	if (!text || !*text || *text == '=')
		return NULL;
	equals = strchr(text, '=');
	o = json_object();
	{
		cleanup_free char *path =
			mem_strndup(text, equals ? (size_t)(equals - text) : strlen(text));

		json_set_string(o, "path", path);
	}
	if (equals) {
		/* Unquoted words are strings. */
		value = json_parse(equals + 1, strlen(equals + 1), 0, &err);
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

static enum verdict evaluate_field(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	const char *path = json_get_string(arg, "path");
	const struct json *want = json_get(arg, "value"), *is;
	cleanup_json struct json *all = parse_output(r, why);

	if (!all)
		return VERDICT_FAIL;
	is = walk(all, path);
	if (!is) {
		buf_addf(why, "Expected a field %.100s, but the output has none: ", path);
		show_json(why, all);
		buf_addch(why, '.');
		return VERDICT_FAIL;
	}
	buf_addf(why, "The field %.100s is ", path);
	show_json(why, is);
	if (want) {
		buf_addstr(why, ", expected ");
		show_json(why, want);
	}
	buf_addch(why, '.');
	return verdict_of(!want || json_equal(want, is));
}

/* --- the run --- */

static struct json *read_runtime(const struct json *arg)
{
	double ms = json_number(arg, json_get_number(arg, "max_ms", -1)), unused;
	struct json *o;

	if (json_type(arg) == JSON_STRING && !number_parse(json_string(arg), &ms, &unused))
		return NULL;
	if (!(ms > 0))
		return NULL;
	o = json_object();
	json_set_number(o, "max_ms", ms);
	return o;
}

static enum verdict evaluate_runtime(const struct json *arg, const struct sandbox_result *r,
				     struct buf *why)
{
	double max = json_get_number(arg, "max_ms", 0);

	buf_addf(why, "The run took %.1f ms, expected at most %.1f.", r->metrics.wall_ms, max);
	return verdict_of(r->metrics.wall_ms <= max);
}

/* --- the table --- */

static const struct check_kind kinds[] = {
	{ "equals", "equals:42", "the output is this text; blanks at line ends do not matter",
	  true, true, read_text, evaluate_equals },
	{ "exact", "exact:42", "the output is this text, byte for byte",
	  true, true, read_text, evaluate_exact },
	{ "contains", "contains:total", "the output has this text in it",
	  true, true, read_text, evaluate_contains, vacuous_text },
	{ "regex", "regex:^total: \\d+$", "the output matches this pattern (PCRE2, by line)",
	  true, true, read_regex, evaluate_regex, vacuous_regex },
	{ "number", "number:3.14±0.01", "the last number of the output is this, within a tolerance",
	  true, true, read_number, evaluate_number },
	{ "range", "range:0..100", "the last number of the output lies between these",
	  true, true, read_range, evaluate_range, vacuous_range },
	{ "lines", "lines:10", "the output has exactly this many lines, or as many as a range says",
	  true, true, read_lines, evaluate_lines, vacuous_range },
	{ "count", "count:3:error", "a text occurs in the output this many times",
	  true, true, read_count, evaluate_count },
	{ "json", "json:{\"a\":1}", "the output is JSON; with an argument: equal to it",
	  false, true, read_json, evaluate_json },
	{ "field", "field:user.age=42", "the output is JSON with this field; with =: of this value",
	  true, true, read_field, evaluate_field },
	{ "sum", "sum:100±0.5", "the numbers of the output (the last of each line) add to this",
	  true, true, read_number, evaluate_sum },
	{ "nonnegative", "nonnegative", "no number of the output is negative",
	  false, true, read_nothing, evaluate_nonnegative },
	{ "monotone", "monotone:decreasing", "the numbers (the last of each line) never turn: "
	  "increasing, decreasing, strictly increasing, strictly decreasing",
	  false, true, read_direction, evaluate_monotone },
	{ "unique", "unique", "no line of the output comes twice",
	  false, true, read_nothing, evaluate_unique },
	{ "sorted", "sorted:decreasing", "the lines are sorted, by number when all are numbers",
	  false, true, read_direction, evaluate_sorted },
	{ "probabilities", "probabilities", "the numbers lie between 0 and 1 and add to 1",
	  false, true, read_nothing, evaluate_probabilities },
	{ "artifact", "artifact:*.png", "a file of this name was written to /out; as JSON also "
	  "type, min_bytes, max_bytes", true, false, check_artifact_read, check_artifact_evaluate },
	{ "runtime", "runtime:500", "the run took at most this many milliseconds",
	  true, false, read_runtime, evaluate_runtime },
};

const struct check_kind *check_kind_find(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

const struct check_kind *check_kind_at(size_t index)
{
	return index < ARRAY_SIZE(kinds) ? &kinds[index] : NULL;
}
