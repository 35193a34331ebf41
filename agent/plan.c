#include "agent/plan.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/judge.h"

#include <stdlib.h>
#include <string.h>

void plan_read(struct plan *ret, const char *reply, size_t len)
{
	cleanup_json struct json *object = judge_find_object(reply, len);
	const char *language = json_get_string(object, "language");
	const char *answer = json_get_string(object, "answer");
	const struct json *checks = json_get(object, "checks");
	const struct language *known;
	struct plan p = { .needs_code = true };

	p.usable = json_type(json_get(object, "needs_code")) == JSON_BOOL;
	if (p.usable) {
		p.needs_code = json_bool(json_get(object, "needs_code"), true);
		known = language ? language_find(language) : NULL;
		p.language = known ? known->name : NULL;
		p.approach = mem_strdup(json_get_string(object, "approach"));
		p.answer = answer && *answer ? mem_strdup(answer) : NULL;
		p.checks = json_type(checks) == JSON_ARRAY ? json_copy(checks) : NULL;
	}
	/* "No code, and no answer either" is no plan to follow. */
	if (!p.needs_code && !p.answer)
		p.needs_code = true;
	*ret = p;
}

void plan_release(struct plan *p)
{
	free(p->approach);
	free(p->answer);
	json_free(p->checks);
	*p = (struct plan){ .usable = false };
}
