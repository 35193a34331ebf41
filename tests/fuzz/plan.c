/* The planner's reply and the judge's: any text is read, and no text is a pass
 * by accident. */
#include "agent/plan.h"
#include "verifier/check.h"
#include "verifier/judge.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct check_list checks = { .checks = NULL };
	struct check_result verdict = { .kind = NULL };
	struct plan plan = { .usable = false };

	plan_read(&plan, (const char *)data, size);
	if ((!plan.usable || !plan.answer) && !plan.needs_code)
		abort();
	check_add_plan(&checks, plan.checks);
	check_list_release(&checks);
	plan_release(&plan);
	judge_read((const char *)data, size, &verdict);
	if (verdict.verdict == VERDICT_PASS && !memmem(data, size, "pass", 4) &&
	    !memmem(data, size, "\\u00", 4))
		abort();
	check_result_release(&verdict);
	return 0;
}
