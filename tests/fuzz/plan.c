/* The planner's reply and the judge's: any text is read, and no text is a pass
 * by accident. */
#include "agent/plan.h"
#include "verifier/check/check.h"
#include "verifier/judge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool holds(const uint8_t *data, size_t size, const char *word)
{
	size_t n = strlen(word);

	for (; size >= n; data++, size--)
		if (!strncasecmp((const char *)data, word, n))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check_list checks = { .checks = NULL };
	struct judgement verdict = { .answer = NULL };
	struct plan plan = { .usable = false };

	plan_read(&plan, (const char *)data, size);
	if ((!plan.usable || !plan.answer) && !plan.needs_code)
		abort();
	check_add_plan(&checks, plan.checks);
	check_list_release(&checks);
	plan_release(&plan);
	judge_read((const char *)data, size, size && data[0] & 1, &verdict);
	if (verdict.check.verdict == VERDICT_PASS && !holds(data, size, "pass") &&
	    !holds(data, size, "true") && !holds(data, size, "\\u00"))
		abort();
	judgement_release(&verdict);
	return 0;
}
