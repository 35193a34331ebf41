/*
 * What checks that pass are worth: the one place that says so (README.md says why). A person's own
 * demand is worth "expected", tests and a cross check "checked", a judge "judged"; the planner's
 * checks are worth what they would have caught: one must see the value, and together they must
 * reject three of four near misses, and of those with a single number wrong. Otherwise they may
 * fail the program, but carry no level.
 */
#include "verifier/check/check.h"
#include "verifier/check/kind.h"

#include "base/mem.h"

#include <string.h>

/* Of output. More is no answer to be read, and would take seconds to be got wrong so often. */
#define WEIGHED_MAX ((size_t)128 << 10)

static enum verdict verdict_on(const struct check *check, const struct sandbox_result *result,
			       struct regex_effort *effort)
{
	struct check_result r;

	check_evaluate(check, result, effort, &r);
	enum verdict verdict = r.verdict;
	check_result_release(&r);
	return verdict;
}

/* Those of the planner that pass, and could have failed. */
static size_t passing(const struct check_list *list, const struct sandbox_result *result,
		      struct regex_effort *effort, const struct check **ret)
{
	size_t count = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct check *c = &list->checks[i];

		if (c->source == CHECK_PLANNER && !check_is_vacuous(c, effort) &&
		    !check_passed_by(c, effort) && verdict_on(c, result, effort) == VERDICT_PASS)
			ret[count++] = c;
	}
	return count;
}

/* The checks on trial. */
struct trial {
	const struct check **checks;
	size_t count;
	bool *rejects; /* which rejected something */
	struct regex_effort *effort;
};

/* One wrong result: whether a check rejects it. Not to have been evaluated is no
 * rejection. */
static bool try_on(const struct trial *t, const struct sandbox_result *wrong,
		   struct check_weight *w)
{
	bool any = false;

	for (size_t i = 0; i < t->count; i++) {
		if (verdict_on(t->checks[i], wrong, t->effort) != VERDICT_FAIL)
			continue;
		t->rejects[i] = true;
		any = true;
	}
	w->wrong++;
	w->rejected += any;
	return any;
}

static void try_all(const struct trial *t, const struct sandbox_result *result,
		    struct check_weight *w)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
	struct sandbox_result wrong = *result;
	struct check_near near;

	check_near_open(&near, result);
	bool single;
	while (check_near_next(&near, &text, &single)) {
		wrong.out.bytes = text.data;
		wrong.out.len = text.len;
		wrong.out.total = text.len;
		bool any = try_on(t, &wrong, w);
		w->singles += single;
		w->singles_rejected += single && any;
	}
	check_near_close(&near);
	if (!result->artifact_count)
		return;
	wrong = *result;
	wrong.artifact_count = 0;
	try_on(t, &wrong, w);
	w->wrong++; /* another file like it, which all would pass */
}

static void name(struct check_weight *w, const char *kind)
{
	size_t len = strlen(w->by);

	snprintf(w->by + len, sizeof(w->by) - len, "%s%s", len ? ", " : "", kind);
}

void check_weigh(const struct check_list *list, const struct sandbox_result *result,
		 struct regex_effort *effort, struct check_weight *ret)
{
	struct regex_effort own = { .left_us = CHECK_PATTERNS_US };
	cleanup_free const struct check **checks = mem_alloc((list->count + 1) * sizeof(*checks));
	cleanup_free bool *rejects = mem_alloc(list->count + 1);
	struct trial t = { checks, 0, rejects, effort ? effort : &own };

	*ret = (struct check_weight){ .wrong = 0 };
	t.count = passing(list, result, t.effort, checks);
	bool sees_value = false;
	for (size_t i = 0; i < t.count; i++)
		sees_value |= check_kind_find(checks[i]->kind)->sees_value;
	if (!sees_value || result->out.len > WEIGHED_MAX)
		return;
	try_all(&t, result, ret);
	for (size_t i = 0; i < t.count; i++)
		if (rejects[i])
			name(ret, checks[i]->kind);
	ret->carries = ret->wrong && ret->rejected * 4 >= ret->wrong * 3 &&
		       ret->singles_rejected * 4 >= ret->singles * 3;
}
