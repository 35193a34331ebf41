/*
 * Two recordings compared stage by stage: what differs and counts, and the first of it. What
 * varies by itself (times, sizes of memory) is left out by name. Nothing is run or written for it.
 */
#include "agent/record/compare.h"

#include "agent/record/journal.h"
#include "base/hash.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS_ALWAYS_TOLD 2 /* status and level */

/* Of a stage's record: what is measured, not decided; and what identifies the
 * machine, or the prompts and rules, which environment_changed tells. */
static const char *const volatile_fields[] = {
	"elapsed_ms",	  "metrics",	    "isolation",     "environment", "tries",
	"first_token_ms", "duration_ms",    "request_id",    "cost_usd",    "environments",
	"detail",	  "wall_limit_ms",  "ruleset",	     "reader",	    JOURNAL_TEMPLATES,
	JOURNAL_RULES,	  JOURNAL_PACKAGES, JOURNAL_SOURCES, JOURNAL_STATE,
};

static bool is_volatile(const char *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(volatile_fields); i++)
		if (!strcmp(volatile_fields[i], field))
			return true;
	return false;
}

/* A blob is compared by its hash; of the forbidden calls the names count, since
 * how often a program tried may be a race. */
static struct json *significant(const char *field, const struct json *value)
{
	const char *hash = json_get_string(value, "sha256");

	if (hash && json_get(value, "size"))
		return json_new_string(hash);
	if (strcmp(field, "forbidden") || json_type(value) != JSON_ARRAY)
		return value ? json_copy(value) : json_new_null();
	struct json *names = json_array();
	for (const struct json *item = json_first(value); item; item = json_next(item))
		json_append(names, json_new_string(json_get_string(item, "syscall")));
	return names;
}

static void compare_field(const char *field, const struct json *before, const struct json *after,
			  struct json *differences)
{
	struct json *a = significant(field, before), *b = significant(field, after);

	if (json_equal(a, b)) {
		json_free(a);
		json_free(b);
		return;
	}
	struct json *d = json_object();
	json_set_string(d, "field", field);
	json_set(d, "before", a);
	json_set(d, "after", b);
	json_append(differences, d);
}

static struct json *compare_data(const struct json *before, const struct json *after)
{
	struct json *differences = json_array();

	for (const struct json *member = json_first(before); member; member = json_next(member))
		if (!is_volatile(json_key(member)))
			compare_field(json_key(member), member, json_get(after, json_key(member)),
				      differences);
	for (const struct json *member = json_first(after); member; member = json_next(member))
		if (!is_volatile(json_key(member)) && !json_get(before, json_key(member)))
			compare_field(json_key(member), NULL, member, differences);
	return differences;
}

/* What a call was asked, or what was to run. Of looking at an input file or at a
 * program only what came of it counts. */
static bool is_question(const struct recorded_event *e)
{
	return !strcmp(e->stage, stage_name(STAGE_EXECUTE)) ||
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

/* Without what only who has the prompts of then could ask again. */
static void drop_asked(struct json **differences)
{
	struct json *kept = json_array();

	for (const struct json *d = json_first(*differences); d; d = json_next(d)) {
		const char *field = json_get_string(d, "field");

		if (strcmp(field, "prompt") && strcmp(field, "messages"))
			json_append(kept, json_copy(d));
	}
	json_free(*differences);
	*differences = kept;
}

static struct json *compare_pair(const struct recorded_event *a, const struct recorded_event *b,
				 bool prompts_unknown)
{
	const struct recorded_event *known = a ? a : b;
	cleanup_free char *before = name_of(a), *after = name_of(b);
	struct json *row = json_object(), *differences;

	if (!a || !b || strcmp(before, after))
		differences = missing("stage", before, after);
	else
		differences = compare_data(a->data, b->data);
	if (prompts_unknown && a && b && role_parse(a->stage) >= 0 && !strcmp(a->phase, "started"))
		drop_asked(&differences);
	json_set_string(row, "stage", known->stage);
	json_set_string(row, "phase", known->phase);
	json_set_int(row, "attempt", known->attempt);
	json_set_bool(row, "same", json_count(differences) == 0);
	json_set(row, "differences", differences);
	return row;
}

/* An earlier version called what ended at exec's deadline failed, with the exit code
 * of a deadline. */
static const char *status_of(const struct audit_row *before, const struct audit_row *after)
{
	bool renamed = before->exit_code == after->exit_code && before->status && after->status &&
		       !strcmp(before->status, run_status_name(RUN_FAILED)) &&
		       !strcmp(after->status, run_status_name(RUN_BUDGET));

	return renamed ? after->status : before->status;
}

/* The answer as its hash, as contents are compared; "" without one. */
static void hash_answer(const struct audit_row *row, char ret[HASH_HEX_LEN + 1])
{
	*ret = '\0';
	if (row->answer)
		hash_sha256(row->answer, row->answer_len, ret);
}

/* How many of the fields an end says anything of: of a run without an end none, and few
 * of one whose end an earlier version wrote. Such a run's record has no version, and
 * where it has no attempt either, nothing. */
static size_t fields_told(const struct audit_row *row, size_t all)
{
	if (!row->ended_ms)
		return 0;
	if (json_get_string(row->config, "version"))
		return all;
	return row->attempts ? FIELDS_ALWAYS_TOLD : 0;
}

/* How the two runs ended: NULL when alike. */
static struct json *compare_ends(const struct audit_row *before, const struct audit_row *after)
{
	char answer_before[HASH_HEX_LEN + 1], answer_after[HASH_HEX_LEN + 1];
	struct json *differences = json_array(), *row = json_object();
	const struct {
		const char *name, *before, *after;
	} fields[] = {
		{ "status", status_of(before, after), after->status },
		{ "level", before->level, after->level },
		{ "reason", before->reason, after->reason },
		{ "answer", answer_before, answer_after },
	};
	size_t told = fields_told(before, ARRAY_SIZE(fields));

	hash_answer(before, answer_before);
	hash_answer(after, answer_after);
	for (size_t i = 0; i < told; i++) {
		cleanup_json struct json *a = json_new_string(fields[i].before);
		cleanup_json struct json *b = json_new_string(fields[i].after);

		compare_field(fields[i].name, a, b, differences);
	}
	json_set_string(row, "stage", stage_name(STAGE_END));
	json_set_string(row, "phase", "done");
	json_set_int(row, "attempt", before->attempts);
	json_set_bool(row, "same", false);
	json_set(row, "differences", differences);
	if (json_count(differences))
		return row;
	json_free(row);
	return NULL;
}

/* A replay goes on where its run was cut off. */
static bool is_cut_off(const struct recording *before, const struct recording *after)
{
	return !before->row.ended_ms && after->row.replay_of &&
	       !strcmp(after->row.replay_of, before->row.id);
}

void compare_runs(const struct recording *before, const struct recording *after,
		  struct json **ret_stages, struct json **ret_first)
{
	*ret_stages = json_array();
	*ret_first = NULL;
	size_t i = 0, j = 0;
	for (;;) {
		const struct recorded_event *a = next_event(before, &i), *b = next_event(after, &j);

		if (!b && !a)
			break;
		if (!a && is_cut_off(before, after)) /* what it did not come to is no difference */
			break;
		struct json *row = compare_pair(a, b, before->prompts_unknown);
		if (!*ret_first && !json_get_bool(row, "same", false))
			*ret_first = json_copy(row);
		json_append(*ret_stages, row);
		bool aligned = a && b && !strcmp(a->stage, b->stage) && a->attempt == b->attempt;
		if (!aligned) /* From here on the two went different ways. */
			break;
	}
	struct json *ends = compare_ends(&before->row, &after->row);
	if (!ends)
		return;
	if (!*ret_first)
		*ret_first = json_copy(ends);
	json_append(*ret_stages, ends);
}
