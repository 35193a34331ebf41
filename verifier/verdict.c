/*
 * The names of levels and verdicts, one table each. They stand in records and in JSON: a name
 * never changes. What earns a level is verifier/check/weigh.c's affair and the engine's.
 */
#include "verifier/verdict.h"

#include "base/mem.h"
#include "base/name.h"

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
	return name_find(level_names, ARRAY_SIZE(level_names), name);
}

void level_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, level_names, ARRAY_SIZE(level_names), between, last);
}

const char *verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}
