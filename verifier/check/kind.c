/*
 * The table of kinds of checks, a row each. Who adds one says in the row whether a wrong value
 * can fail it, since a level rests on that.
 */
#include "verifier/check/kind.h"

#include "base/mem.h"
#include "verifier/number.h"

#include <string.h>

static struct json *read_nothing(const struct json *arg)
{
	(void)arg;
	return json_object();
}

/* --- the run --- */

static struct json *read_runtime(const struct json *arg)
{
	double ms = json_number(arg, json_get_number(arg, "max_ms", -1)), unused;

	if (json_type(arg) == JSON_STRING && !number_parse(json_string(arg), &ms, &unused))
		return NULL;
	if (!(ms > 0))
		return NULL;
	struct json *o = json_object();
	json_set_number(o, "max_ms", ms);
	return o;
}

static enum verdict evaluate_runtime(const struct json *arg, const struct sandbox_result *r,
				     struct buf *why)
{
	double max = json_get_number(arg, "max_ms", 0);

	buf_addf(why, "The run took %.1f ms, expected at most %.1f.", r->metrics.wall_ms, max);
	return check_verdict(r->metrics.wall_ms <= max);
}

/* --- the table --- */

/* sees_value: a check of the value, not only of its form. No check without one
 * of them carries a level (weigh.c). */
static const struct check_kind kinds[] = {
	{ "equals", "equals:42", "the output is this text; blanks at line ends do not matter",
	  "the output is this text (blanks at line ends do not matter): {}", true, true,
	  check_read_text, check_evaluate_equals, NULL, true, .sees_value = true },
	{ "exact", "exact:42", "the output is this text, byte for byte",
	  "the output is this text, byte for byte: {}", true, true, check_read_text,
	  check_evaluate_exact, NULL, true, .sees_value = true },
	{ "contains", "contains:total", "the output has this text in it",
	  "the output has this text in it: {}", true, true, check_read_text,
	  check_evaluate_contains, check_vacuous_text, true, .sees_value = true },
	{ "regex", "regex:^total: \\d+$", "some line of the output matches this pattern (PCRE2)",
	  "some line of the output matches this pattern (PCRE2): {}", true, true, check_read_regex,
	  NULL, NULL, false, check_search_regex, check_matches_all_regex },
	{ "number", "number:3.14±0.01", "the last number of the output is this, within a tolerance",
	  "the last number of the output is {value}[, at most {tolerance} off]", true, true,
	  check_read_number, check_evaluate_number, NULL, true, .sees_value = true },
	{ "range", "range:0..100", "the last number of the output lies between these",
	  "the last number of the output is {min..max}", true, true, check_read_range,
	  check_evaluate_range, check_vacuous_range, .sees_value = true },
	{ "lines", "lines:10", "the output has exactly this many lines, or as many as a range says",
	  "the number of lines of the output is {min..max}", true, true, check_read_lines,
	  check_evaluate_lines, check_vacuous_range },
	{ "count", "count:3:error", "a text occurs in the output this many times",
	  "the output has this text in it {count} times: {text}", true, true, check_read_count,
	  check_evaluate_count },
	{ "json", "json:{\"a\":1}", "the output is JSON; with an argument: equal to it",
	  "the output is JSON[, equal to {value}]", false, true, check_read_json,
	  check_evaluate_json, NULL, true, .sees_value = true },
	{ "field", "field:user.age=42", "the output is JSON with this field; with =: of this value",
	  "the output is JSON with the field {path}[, whose value is {value}]", true, true,
	  check_read_field, check_evaluate_field, NULL, true, .sees_value = true },
	{ "sum", "sum:100±0.5", "the numbers of the output (the last of each line) add to this",
	  "the numbers of the output (the last of each line) add to {value}[, at most "
	  "{tolerance} off]",
	  true, true, check_read_number, check_evaluate_sum, NULL, true, .sees_value = true },
	{ "nonnegative", "nonnegative", "no number of the output is negative", NULL, false, true,
	  read_nothing, check_evaluate_nonnegative },
	{ "monotone", "monotone:decreasing",
	  "the numbers (the last of each line) never turn: increasing, decreasing, "
	  "strictly increasing, strictly decreasing",
	  "the numbers of the output (the last of each line) are in {} order", false, true,
	  check_read_direction, check_evaluate_monotone },
	{ "unique", "unique", "no line of the output comes twice", NULL, false, true, read_nothing,
	  check_evaluate_unique },
	{ "sorted", "sorted:decreasing", "the lines are sorted, by number when all are numbers",
	  "the lines of the output are in {} order, by number when all are numbers", false, true,
	  check_read_direction, check_evaluate_sorted },
	{ "probabilities", "probabilities", "the numbers lie between 0 and 1 and add to 1", NULL,
	  false, true, read_nothing, check_evaluate_probabilities, NULL, .sees_value = true },
	{ "artifact", "artifact:*.png",
	  "a file of this name was written to /out, and is what an extension like .png says; "
	  "as an object: glob, type, min_bytes, max_bytes",
	  "a file {glob} is written to /out[, of type {type}][, its size in bytes "
	  "{min_bytes..max_bytes}]",
	  true, false, check_artifact_read, check_artifact_evaluate },
	{ "runtime", "runtime:500", "the run took at most this many milliseconds",
	  "the run takes at most {max_ms} ms", true, false, read_runtime, evaluate_runtime,
	  .sees_time = true },
};

const struct check_kind *check_kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

const struct check_kind *check_kind_at(size_t index)
{
	return index < ARRAY_SIZE(kinds) ? &kinds[index] : NULL;
}
