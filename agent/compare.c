#include "agent/compare.h"

#include "base/mem.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a stage's record: what is measured, not decided; and what identifies the
 * machine, which environment_changed tells. */
static const char *const volatile_fields[] = {
	"elapsed_ms", "metrics", "isolation", "environment", "tries", "first_token_ms",
	"duration_ms", "request_id", "cost_usd", "environments", "detail", "wall_limit_ms",
};

static bool is_volatile(const char *field)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(volatile_fields); i++)
		if (!strcmp(volatile_fields[i], field))
			return true;
	return false;
}

static bool is_harness_file(const struct json *artifact)
{
	const char *path = json_get_string(artifact, "path");

	return path && !strncmp(path, TESTS_DATA_FOLDER, strlen(TESTS_DATA_FOLDER));
}

static struct json *artifacts_of_the_program(const struct json *artifacts)
{
	struct json *rest = json_array();
	const struct json *a;

	for (a = json_first(artifacts); a; a = json_next(a))
		if (!is_harness_file(a))
			json_append(rest, json_copy(a));
	return rest;
}

/* A blob is compared by its hash; of the forbidden calls the names count, since
 * how often a program tried may be a race. */
static struct json *significant(const char *field, const struct json *value)
{
	const char *hash = json_get_string(value, "sha256");
	struct json *names;
	const struct json *item;

	if (hash && json_get(value, "size"))
		return json_new_string(hash);
	if (!strcmp(field, "artifacts") && json_type(value) == JSON_ARRAY)
		return artifacts_of_the_program(value);
	if (strcmp(field, "forbidden") || json_type(value) != JSON_ARRAY)
		return value ? json_copy(value) : json_new_null();
	names = json_array();
	for (item = json_first(value); item; item = json_next(item))
		json_append(names, json_new_string(json_get_string(item, "syscall")));
	return names;
}

static void compare_field(const char *field, const struct json *before, const struct json *after,
			  struct json *differences)
{
	struct json *a = significant(field, before), *b = significant(field, after), *d;

	if (json_equal(a, b)) {
		json_free(a);
		json_free(b);
		return;
	}
	d = json_object();
	json_set_string(d, "field", field);
	json_set(d, "before", a);
	json_set(d, "after", b);
	json_append(differences, d);
}

/* "artifact_N" is the N-th of the data's "artifacts". */
static bool is_harness_blob(const char *field, const struct json *data)
{
	const struct json *a = json_first(json_get(data, "artifacts"));
	size_t n;

	if (sscanf(field, "artifact_%zu", &n) != 1)
		return false;
	while (a && n--)
		a = json_next(a);
	return is_harness_file(a);
}

static struct json *compare_data(const struct json *before, const struct json *after)
{
	struct json *differences = json_array();
	const struct json *member;

	for (member = json_first(before); member; member = json_next(member))
		if (!is_volatile(json_key(member)) && !is_harness_blob(json_key(member), before))
			compare_field(json_key(member), member, json_get(after, json_key(member)),
				      differences);
	for (member = json_first(after); member; member = json_next(member))
		if (!is_volatile(json_key(member)) && !json_get(before, json_key(member)) &&
		    !is_harness_blob(json_key(member), after))
			compare_field(json_key(member), NULL, member, differences);
	return differences;
}

/* What a call was asked, or what was to run. Of looking at an input file or at a
 * program only what came of it counts. */
static bool is_question(const struct recorded_event *e)
{
	return !strcmp(e->stage, "execute") ||
	       (role_parse(e->stage) >= 0 && !json_get(e->data, "reader"));
}

/* The next event that is a stage's outcome or the question to it. */
static const struct recorded_event *next_event(const struct recording *r, size_t *at)
{
	while (*at < r->count) {
		const struct recorded_event *e = &r->events[(*at)++];

		if (!strcmp(e->phase, "done") || is_question(e))
			return e;
	}
	return NULL;
}

static struct json *missing(const char *field, const char *before, const char *after)
{
	struct json *differences = json_array(), *d = json_object();

	json_set_string(d, "field", field);
	json_set_string(d, "before", before);
	json_set_string(d, "after", after);
	json_append(differences, d);
	return differences;
}

static char *name_of(const struct recorded_event *e)
{
	return e ? mem_printf("%s %s, attempt %d", e->stage, e->phase, e->attempt) : NULL;
}

static struct json *compare_pair(const struct recorded_event *a, const struct recorded_event *b)
{
	const struct recorded_event *known = a ? a : b;
	cleanup_free char *before = name_of(a), *after = name_of(b);
	struct json *row = json_object(), *differences;

	if (!a || !b || strcmp(before, after))
		differences = missing("stage", before, after);
	else
		differences = compare_data(a->data, b->data);
	json_set_string(row, "stage", known->stage);
	json_set_string(row, "phase", known->phase);
	json_set_int(row, "attempt", known->attempt);
	json_set_bool(row, "same", json_count(differences) == 0);
	json_set(row, "differences", differences);
	return row;
}

void compare_runs(const struct recording *before, const struct recording *after,
		  struct json **ret_stages, struct json **ret_first)
{
	size_t i = 0, j = 0;

	*ret_stages = json_array();
	*ret_first = NULL;
	for (;;) {
		const struct recorded_event *a = next_event(before, &i), *b = next_event(after, &j);
		struct json *row;
		bool aligned;

		if (!a && !b)
			break;
		row = compare_pair(a, b);
		if (!*ret_first && !json_get_bool(row, "same", false))
			*ret_first = json_copy(row);
		json_append(*ret_stages, row);
		aligned = a && b && !strcmp(a->stage, b->stage) && a->attempt == b->attempt;
		if (!aligned)	/* From here on the two went different ways. */
			break;
	}
}
