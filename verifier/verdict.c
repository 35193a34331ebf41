/*
 * The names of levels and verdicts, one table each. They stand in records and in JSON: a name
 * never changes. What earns a level is verifier/check/weigh.c's affair and the engine's.
 */
#include "verifier/verdict.h"

#include "base/mem.h"

#include <string.h>

static const char *const level_names[] = {
	[LEVEL_NONE] = "none",	     [LEVEL_RAN] = "ran",	    [LEVEL_JUDGED] = "judged",
	[LEVEL_CHECKED] = "checked", [LEVEL_EXPECTED] = "expected",
};

static const char *const verdict_names[] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "fail",
	[VERDICT_ERROR] = "error",
	[VERDICT_SKIPPED] = "skipped",
};

const char *level_name(enum level level)
{
	return level_names[level];
}

int level_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++)
		if (!strcmp(level_names[i], name))
			return (int)i;
	return -1;
}

const char *verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}
