/*
 * Checks on the numbers and lines of the output. Which number is meant is told by its place
 * alone; units and words beside it are not read.
 */
#include "verifier/check/kind.h"

#include "base/mem.h"
#include "verifier/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers --- */

/* Up to here a double tells neighbouring whole numbers apart. */
#define WHOLE_MAX 9007199254740991.0

static bool whole(double value)
{
	return value == floor(value) && fabs(value) <= WHOLE_MAX;
}

/* "digits": a whole number of any length, which a double would round. */
static struct json *number_object(double value, double tolerance, const char *written)
{
	cleanup_buf struct buf digits = BUF_INIT(BUF_MAX_DEFAULT);
	struct json *o = json_object();

	json_set_number(o, "value", value);
	if (tolerance >= 0)
		json_set_number(o, "tolerance", tolerance);
	else if (written && fabs(value) > WHOLE_MAX &&
		 number_digits(written, strlen(written), &digits))
		json_set_string(o, "digits", digits.data);
	return o;
}

/* A whole number too long for JSON's arrives as its text. */
struct json *check_read_number(const struct json *arg)
{
	const struct json *given = json_get(arg, "tolerance"), *digits = json_get(arg, "digits");
	double tolerance = json_number(given, -1);

	if (json_type(arg) == JSON_OBJECT) {
		if (json_type(given) != JSON_NULL && !(tolerance >= 0))
			return NULL;
		arg = digits ? digits : json_get(arg, "value");
	}
	if (json_type(arg) == JSON_NUMBER)
		return number_object(json_number(arg, 0), tolerance, NULL);
	if (json_type(arg) != JSON_STRING)
		return NULL;
	double value, in_text;
	if (!number_parse(json_string(arg), &value, &in_text))
		return NULL;
	return number_object(value, given ? tolerance : in_text, json_string(arg));
}

static void say_number(struct buf *why, const struct json *arg)
{
	double tolerance = json_get_number(arg, "tolerance", -1);

	if (json_get_string(arg, "digits"))
		buf_addstr(why, json_get_string(arg, "digits"));
	else
		buf_addf(why, "%.16g", json_get_number(arg, "value", 0));
	if (tolerance >= 0)
		buf_addf(why, "±%g", tolerance);
}

static enum verdict say_no_number(const struct sandbox_result *r, struct buf *why)
{
	buf_addstr(why, "Expected a number, but the output has none: ");
	check_say_bytes(why, check_output(r), r->out.len);
	buf_addch(why, '.');
	return VERDICT_FAIL;
}

/* The expected value as digits, when it is a whole number and to be met exactly. */
static bool whole_expected(const struct json *arg, struct buf *ret)
{
	const char *digits = json_get_string(arg, "digits");
	double value = json_get_number(arg, "value", 0);

	if (json_get(arg, "tolerance") || (!digits && !whole(value)))
		return false;
	return digits ? !buf_addstr(ret, digits) : !buf_addf(ret, "%.0f", value + 0.0);
}

enum verdict check_evaluate_number(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	cleanup_buf struct buf want = BUF_INIT(BUF_MAX_DEFAULT), is = BUF_INIT(BUF_MAX_DEFAULT);
	const char *text = check_output(r);
	struct number n;

	if (!number_last(text, r->out.len, &n))
		return say_no_number(r, why);
	bool holds;
	/* Relative to a large number, 1 is little; it is still another number. */
	if (n.whole && whole_expected(arg, &want) &&
	    number_digits(text + n.start, n.end - n.start, &is))
		holds = want.len == is.len && !memcmp(want.data, is.data, is.len);
	else
		holds = number_close(n.value, json_get_number(arg, "value", 0),
				     json_get_number(arg, "tolerance", -1));
	buf_addstr(why, "The last number of the output is ");
	if (is.len)
		buf_addf(why, "%.400s", is.data);
	else
		buf_addf(why, "%.16g", n.value);
	buf_addstr(why, ", expected ");
	say_number(why, arg);
	buf_addch(why, '.');
	return check_verdict(holds);
}

enum verdict check_evaluate_sum(const struct json *arg, const struct sandbox_result *r,
				struct buf *why)
{
	size_t count;
	cleanup_free double *list = number_sequence(check_output(r), r->out.len, &count);
	double want = json_get_number(arg, "value", 0);
	bool exact = !json_get(arg, "tolerance") && whole(want);

	if (!count)
		return say_no_number(r, why);
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		sum += list[i];
		exact = exact && whole(list[i]) && whole(sum);
	}
	bool holds = exact ? sum == want :
			     number_close(sum, want, json_get_number(arg, "tolerance", -1));
	buf_addf(why, "The sum of the numbers is %.16g, expected ", sum);
	say_number(why, arg);
	buf_addch(why, '.');
	return check_verdict(holds);
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
	const char *dots = strstr(text, "..");

	if (!dots)
		return NULL;
	double min = -INFINITY;
	char *end;
	if (dots > text) {
		min = strtod(text, &end);
		/* "1..5": strtod takes "1." and leaves ".5" */
		if (end == text || end < dots || end > dots + 1)
			return NULL;
	}
	double max = INFINITY;
	if (dots[2]) {
		max = strtod(dots + 2, &end);
		if (end == dots + 2 || *end)
			return NULL;
	}
	return min <= max ? range_object(min, max) : NULL;
}

struct json *check_read_range(const struct json *arg)
{
	const struct json *first = json_first(arg);

	if (json_type(arg) == JSON_STRING)
		return read_range_text(json_string(arg));
	double min, max;
	if (json_type(arg) == JSON_ARRAY && json_count(arg) == 2) {
		min = json_number(first, NAN);
		max = json_number(json_next(first), NAN);
	} else if (json_type(arg) == JSON_OBJECT) {
		min = json_get(arg, "min") ? json_get_number(arg, "min", NAN) : -INFINITY;
		max = json_get(arg, "max") ? json_get_number(arg, "max", NAN) : INFINITY;
		if (json_count(arg) && !json_get(arg, "min") && !json_get(arg, "max"))
			return NULL; /* "minimum" and the like */
	} else {
		return NULL;
	}
	return min <= max ? range_object(min, max) : NULL;
}

bool check_vacuous_range(const struct json *arg)
{
	return !json_get(arg, "min") && !json_get(arg, "max");
}

static void say_range(struct buf *why, const struct json *arg)
{
	if (json_get(arg, "min"))
		buf_addf(why, "%.16g", json_get_number(arg, "min", 0));
	if (json_get(arg, "max") && json_equal(json_get(arg, "min"), json_get(arg, "max")))
		return;
	buf_addstr(why, "..");
	if (json_get(arg, "max"))
		buf_addf(why, "%.16g", json_get_number(arg, "max", 0));
}

static enum verdict within(const struct json *arg, const char *what, double is, struct buf *why)
{
	bool holds = is >= json_get_number(arg, "min", -INFINITY) &&
		     is <= json_get_number(arg, "max", INFINITY);

	buf_addf(why, "%s is %.16g, expected ", what, is);
	say_range(why, arg);
	buf_addch(why, '.');
	return check_verdict(holds);
}

enum verdict check_evaluate_range(const struct json *arg, const struct sandbox_result *r,
				  struct buf *why)
{
	struct number is;

	if (!number_last(check_output(r), r->out.len, &is))
		return say_no_number(r, why);
	return within(arg, "The last number of the output", is.value, why);
}

/* --- lines --- */

struct json *check_read_lines(const struct json *arg)
{
	double n = json_number(arg, -1), tolerance;

	if (json_type(arg) == JSON_STRING && !number_parse(json_string(arg), &n, &tolerance))
		return check_read_range(arg);
	if (json_type(arg) == JSON_OBJECT || json_type(arg) == JSON_ARRAY)
		return check_read_range(arg);
	return n >= 0 && n == floor(n) ? range_object(n, n) : NULL;
}

enum verdict check_evaluate_lines(const struct json *arg, const struct sandbox_result *r,
				  struct buf *why)
{
	cleanup_free char *text = NULL;
	size_t count;
	cleanup_free char **lines = check_split_lines(r, &text, &count);

	(void)lines;
	return within(arg, "The number of output lines", (double)count, why);
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

enum verdict check_evaluate_unique(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	cleanup_free char *text = NULL;
	size_t count;
	cleanup_free char **lines = check_split_lines(r, &text, &count);

	(void)arg;
	if (count < 2) {
		buf_addf(why, "Expected several lines that all differ, but there %s %zu.",
			 count == 1 ? "is" : "are", count);
		return VERDICT_FAIL;
	}
	qsort(lines, count, sizeof(*lines), compare_strings);
	for (size_t i = 1; i < count; i++) {
		if (strcmp(lines[i - 1], lines[i]))
			continue;
		buf_addstr(why, "Expected all lines to differ, but this one is there twice: ");
		check_say_bytes(why, lines[i], strlen(lines[i]));
		buf_addch(why, '.');
		return VERDICT_FAIL;
	}
	buf_addf(why, "All %zu lines differ.", count);
	return VERDICT_PASS;
}

/* --- sequences --- */

enum verdict check_evaluate_nonnegative(const struct json *arg, const struct sandbox_result *r,
					struct buf *why)
{
	(void)arg;
	size_t at = 0, count = 0;
	struct number n;
	for (; number_next(check_output(r), r->out.len, &at, &n); count++)
		if (!(n.value >= 0)) {
			buf_addf(why, "Expected no negative number, but there is %.16g.", n.value);
			return VERDICT_FAIL;
		}
	if (!count)
		return say_no_number(r, why);
	buf_addf(why, "None of %zu numbers is negative.", count);
	return VERDICT_PASS;
}

static const char *const directions[] = { "increasing", "decreasing", "strictly increasing",
					  "strictly decreasing" };

struct json *check_read_direction(const struct json *arg)
{
	const char *word = json_string(arg);

	if (json_type(arg) == JSON_NULL)
		return json_new_string(directions[0]);
	for (size_t i = 0; word && i < ARRAY_SIZE(directions); i++)
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
	if (count < 2) {
		buf_addf(why, "Expected several numbers, %s, but the output has %zu.", direction,
			 count);
		return VERDICT_FAIL;
	}
	for (size_t i = 1; i < count; i++)
		if (!in_order(list[i - 1], list[i], direction)) {
			buf_addf(why, "Expected numbers %s, but %.16g comes before %.16g.",
				 direction, list[i - 1], list[i]);
			return VERDICT_FAIL;
		}
	buf_addf(why, "All %zu numbers are %s.", count, direction);
	return VERDICT_PASS;
}

enum verdict check_evaluate_monotone(const struct json *arg, const struct sandbox_result *r,
				     struct buf *why)
{
	size_t count;
	cleanup_free double *list = number_sequence(check_output(r), r->out.len, &count);

	return ordered(list, count, json_string(arg), why);
}

/* Lines in order: by number when each line is one, else by bytes. */
enum verdict check_evaluate_sorted(const struct json *arg, const struct sandbox_result *r,
				   struct buf *why)
{
	cleanup_free char *text = NULL;
	size_t count, numbers = 0;
	cleanup_free char **lines = check_split_lines(r, &text, &count);
	cleanup_free double *list = mem_alloc(count * sizeof(*list));
	bool down = strstr(json_string(arg), "decreasing") != NULL;

	for (size_t i = 0; i < count; i++)
		numbers += number_alone(lines[i], strlen(lines[i]), &list[i]);
	if (numbers == count)
		return ordered(list, count, json_string(arg), why);
	for (size_t i = 1; i < count; i++) {
		int order = strcmp(lines[i - 1], lines[i]);

		if (down ? order >= 0 : order <= 0)
			continue;
		buf_addstr(why, "Expected sorted lines, but ");
		check_say_bytes(why, lines[i - 1], strlen(lines[i - 1]));
		buf_addstr(why, " comes before ");
		check_say_bytes(why, lines[i], strlen(lines[i]));
		buf_addch(why, '.');
		return VERDICT_FAIL;
	}
	buf_addf(why, "%zu lines are sorted.", count);
	return check_verdict(count > 1);
}

enum verdict check_evaluate_probabilities(const struct json *arg, const struct sandbox_result *r,
					  struct buf *why)
{
	size_t count;
	cleanup_free double *list = number_sequence(check_output(r), r->out.len, &count);

	(void)arg;
	if (!count)
		return say_no_number(r, why);
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		if (!(list[i] >= 0 && list[i] <= 1)) {
			buf_addf(why, "Expected probabilities, but %.16g is not between 0 and 1.",
				 list[i]);
			return VERDICT_FAIL;
		}
		sum += list[i];
	}
	/* Printed values are rounded: each may be off by half of the last digit. */
	buf_addf(why, "%zu probabilities add to %.16g, expected 1.", count, sum);
	return check_verdict(number_close(sum, 1, 0.005 + 0.0005 * (double)count));
}
