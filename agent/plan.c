/*
 * The planner's reply as a plan: language, steps, checks, and a direct answer. The JSON is a
 * model's: what does not fit is left out, and checks are weighed elsewhere.
 */
#include "agent/plan.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/reply/convention.h"
#include "verifier/reply/fence.h"
#include "verifier/judge.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void read_object(struct plan *ret, const struct json *object)
{
	const char *language = json_get_string(object, "language");
	const char *answer = json_get_string(object, "answer");
	const struct json *checks = json_get(object, "checks");
	struct plan p = { .needs_code = true };

	p.usable = json_type(object) == JSON_OBJECT;
	if (p.usable) {
		p.needs_code = json_get_bool(object, "needs_code", true);
		const struct language *known = language ? language_find(language) : NULL;
		p.language = known ? known->name : NULL;
		p.question = mem_strdup(json_get_string(object, "question"));
		p.approach = mem_strdup(json_get_string(object, "approach"));
		p.answer = answer && *answer ? mem_strdup(answer) : NULL;
		p.checks = json_type(checks) == JSON_ARRAY ? json_copy(checks) : NULL;
	}
	/* "No code, and no answer either" is no plan to follow. */
	if (!p.needs_code && !p.answer)
		p.needs_code = true;
	*ret = p;
}

/* Any of its members makes an object a plan: weak models leave some out. */
static bool is_plan(const struct json *object)
{
	return json_get(object, "needs_code") || json_get(object, "checks") ||
	       json_get(object, "approach") || json_get(object, "question");
}

void plan_read(struct plan *ret, const char *reply, size_t len)
{
	cleanup_json struct json *object = judge_find_object(reply, len);

	read_object(ret, is_plan(object) ? object : NULL);
}

/* Lines stay where they are. */
static void blank(char *text, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (text[i] != '\n')
			text[i] = ' ';
}

void plan_take(struct plan *ret, char *reply, size_t len)
{
	cleanup_fences struct fence_list list = { 0 };

	*ret = (struct plan){ .needs_code = true };
	struct error ignored = ERROR_INIT;
	if (fence_scan(reply, len, FENCE_SKIP_THINKING, &list, &ignored) < 0)
		return;
	for (size_t i = 0; i < list.count; i++) {
		const struct fence *f = &list.fences[i];
		cleanup_json struct json *object = judge_find_object(f->code, f->code_len);
		bool named = !strncasecmp(f->info, "json", 4) || !*f->info;

		if (!named || !is_plan(object))
			continue;
		read_object(ret, object);
		if (convention_is_call(object)) /* the program is in it */
			return;
		blank(reply, f->start_byte, f->end_byte);
		return;
	}
	if (!list.count)
		plan_read(ret, reply, len);
}

void plan_release(struct plan *p)
{
	free(p->question);
	free(p->approach);
	free(p->answer);
	json_free(p->checks);
	*p = (struct plan){ .usable = false };
}
