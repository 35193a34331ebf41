/*
 * The lists of checks and the evaluation of one, by the row of its kind. A check that cannot be
 * evaluated is an error with a reason, never a pass.
 */
#include "verifier/check/check.h"

#include "base/mem.h"
#include "verifier/check/kind.h"

#include <stdlib.h>
#include <string.h>

static const char *const source_names[] = {
	[CHECK_PLANNER] = "planner", [CHECK_USER] = "user",   [CHECK_TASK] = "task",
	[CHECK_TESTS] = "tests",     [CHECK_JUDGE] = "judge", [CHECK_CROSS_CHECK] = "cross_check",
};

const char *check_source_name(enum check_source source)
{
	return source_names[source];
}

enum level check_source_level(enum check_source source)
{
	switch (source) {
	case CHECK_USER:
	case CHECK_TASK:
		return LEVEL_EXPECTED;
	case CHECK_PLANNER:
	case CHECK_TESTS:
	case CHECK_CROSS_CHECK:
		return LEVEL_CHECKED;
	case CHECK_JUDGE:
		return LEVEL_JUDGED;
	}
	return LEVEL_NONE;
}

/* --- lists --- */

static void append(struct check_list *list, const struct check_kind *kind, struct json *arg,
		   enum check_source source)
{
	list->checks = mem_array(list->checks, list->count + 1, sizeof(*list->checks));
	list->checks[list->count++] = (struct check){ kind->name, arg, source };
}

static int unknown_kind(const char *name, struct error *err)
{
	cleanup_buf struct buf b = BUF_INIT(4096);
	const struct check_kind *k;

	for (size_t i = 0; (k = check_kind_at(i)); i++)
		buf_addf(&b, "%s%s", i ? " " : "", k->name);
	return error_set(err, ERR_USAGE, "unknown check \"%.60s\"; there are: %s", name, b.data);
}

int check_add(struct check_list *list, const char *kind, const struct json *arg,
	      enum check_source source, struct error *err)
{
	const struct check_kind *k = check_kind_find(kind);

	if (!k)
		return unknown_kind(kind, err);
	struct json *canonical = k->needs_arg && json_type(arg) == JSON_NULL ? NULL : k->read(arg);
	if (!canonical)
		return error_set(err, ERR_USAGE,
				 "check \"%s\" cannot use this argument; for example %s (%s)", kind,
				 k->example, k->help);
	append(list, k, canonical, source);
	return 0;
}

int check_add_text(struct check_list *list, const char *text, enum check_source source,
		   struct error *err)
{
	const char *colon = strchr(text, ':');
	cleanup_free char *kind = mem_strndup(text, colon ? (size_t)(colon - text) : strlen(text));
	cleanup_json struct json *arg = colon && colon[1] ? json_new_string(colon + 1) : NULL;

	return check_add(list, kind, arg, source, err);
}

size_t check_add_plan(struct check_list *list, const struct json *checks)
{
	if (json_type(checks) != JSON_ARRAY)
		return json_type(checks) == JSON_NULL ? 0 : 1;
	struct error err = ERROR_INIT;
	size_t bad = 0, good = 0;
	for (const struct json *c = json_first(checks); c; c = json_next(c)) {
		const char *kind = json_get_string(c, "kind");
		bool taken = good < CHECK_PLAN_MAX;

		if (taken && json_type(c) == JSON_STRING)
			taken = !check_add_text(list, json_string(c), CHECK_PLANNER, &err);
		else if (taken)
			taken = kind &&
				!check_add(list, kind, json_get(c, "arg"), CHECK_PLANNER, &err);
		good += taken;
		bad += !taken;
	}
	return bad;
}

/* {"number": N, "tolerance": T} are two members of one check. */
static int add_expected_number(struct check_list *list, const struct json *expect,
			       enum check_source source, struct error *err)
{
	cleanup_json struct json *arg = json_object();

	json_set(arg, "value", json_copy(json_get(expect, "number")));
	if (json_get(expect, "tolerance"))
		json_set(arg, "tolerance", json_copy(json_get(expect, "tolerance")));
	return check_add(list, "number", arg, source, err);
}

/* {"json": V} means that very value; as a check's argument it is the same. */
static int add_expected_json(struct check_list *list, const struct json *value,
			     enum check_source source, struct error *err)
{
	cleanup_json struct json *arg = json_object();

	json_set(arg, "value", json_copy(value));
	return check_add(list, "json", arg, source, err);
}

int check_add_expect(struct check_list *list, const struct json *expect, enum check_source source,
		     struct error *err)
{
	if (json_type(expect) != JSON_OBJECT)
		return error_set(err, ERR_USAGE, "\"expect\" must be an object, not %s",
				 json_type_name(json_type(expect)));
	for (const struct json *m = json_first(expect); m; m = json_next(m)) {
		int rc;
		const char *key = json_key(m);

		if (!strcmp(key, "tolerance") && json_get(expect, "number"))
			continue;
		if (!strcmp(key, "number") && json_type(m) != JSON_OBJECT)
			rc = add_expected_number(list, expect, source, err);
		else if (!strcmp(key, "json"))
			rc = add_expected_json(list, m, source, err);
		else
			rc = check_add(list, key, json_type(m) == JSON_BOOL ? NULL : m, source,
				       err);
		if (rc)
			return error_wrap(err, "expect");
	}
	return 0;
}

void check_list_release(struct check_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		json_free(list->checks[i].arg);
	free(list->checks);
	*list = (struct check_list){ 0 };
}

/* --- evaluation --- */

bool check_is_vacuous(const struct check *check, struct regex_effort *effort)
{
	struct regex_effort own = { .left_us = CHECK_PATTERNS_US };
	const struct check_kind *k = check_kind_find(check->kind);

	if (k && k->matches_all)
		return k->matches_all(check->arg, effort ? effort : &own);
	return k && k->vacuous && k->vacuous(check->arg);
}

static enum verdict evaluate(const struct check *check, const struct sandbox_result *result,
			     struct regex_effort *effort, struct buf *why)
{
	const struct check_kind *k = check_kind_find(check->kind);

	if (check_is_vacuous(check, effort)) {
		buf_addstr(why, "No output could fail this check, so it proves nothing.");
		return VERDICT_SKIPPED;
	}
	if (k->reads_output && result->out.truncated) {
		buf_addf(why, "The output was cut at %zu of %llu bytes, so it cannot be checked.",
			 result->out.len, (unsigned long long)result->out.total);
		return VERDICT_ERROR;
	}
	return k->search ? k->search(check->arg, result, effort, why) :
			   k->evaluate(check->arg, result, why);
}

void check_evaluate(const struct check *check, const struct sandbox_result *result,
		    struct regex_effort *effort, struct check_result *ret)
{
	struct regex_effort own = { .left_us = CHECK_PATTERNS_US };
	struct check_result r = { .kind = check->kind, .source = check->source };
	cleanup_buf struct buf why = BUF_INIT(1 << 16);

	r.verdict = evaluate(check, result, effort ? effort : &own, &why);
	r.detail = buf_take(&why, NULL);
	*ret = r;
}

void check_result_release(struct check_result *r)
{
	free(r->detail);
	*r = (struct check_result){ 0 };
}

struct json *check_result_json(const struct check_result *r)
{
	struct json *o = json_object();

	json_set_string(o, "kind", r->kind);
	json_set_string(o, "source", check_source_name(r->source));
	json_set_string(o, "verdict", verdict_name(r->verdict));
	json_set(o, "detail",
		 r->detail ? json_new_bytes(r->detail, strlen(r->detail)) : json_new_null());
	return o;
}

bool check_sees_time(const char *kind)
{
	const struct check_kind *k = check_kind_find(kind);

	return k && k->sees_time;
}

bool check_holds_answer(const char *kind)
{
	const struct check_kind *k = check_kind_find(kind);

	return k && k->holds_answer;
}
