/*
 * The one table of what stages and roles are called. Names stand in records, scripts and options:
 * one may be added, none changed.
 */
#include "agent/stage.h"

#include "base/name.h"

static const char *const names[STAGE_COUNT] = {
	[STAGE_PLAN] = "plan",
	[STAGE_CODE] = "code",
	[STAGE_REPAIR] = "repair",
	[STAGE_TESTS] = "tests",
	[STAGE_CROSS_CHECK] = "cross_check",
	[STAGE_JUDGE] = "judge",
	[STAGE_ANSWER] = "answer",
	[STAGE_COMPLETE] = "complete",
	[STAGE_TASK] = "task",
	[STAGE_INSPECT] = "inspect",
	[STAGE_LOOK] = "look",
	[STAGE_EXTRACT] = "extract",
	[STAGE_SCREEN] = "screen",
	[STAGE_APPROVE] = "approve",
	[STAGE_EXECUTE] = "execute",
	[STAGE_VERIFY] = "verify",
	[STAGE_TOOL] = "tool",
	[STAGE_INPUTS] = "inputs",
	[STAGE_END] = "end",
};

const char *stage_name(enum stage stage)
{
	return names[stage];
}

int stage_parse(const char *name)
{
	return name_find(names, STAGE_COUNT, name);
}

bool stage_asks_model(const char *name)
{
	int stage = stage_parse(name);

	return stage >= 0 && stage <= STAGE_COMPLETE;
}

const char *role_name(enum role role)
{
	return names[role];
}

int role_parse(const char *name)
{
	int stage = stage_parse(name);

	return stage < ROLE_COUNT ? stage : -1;
}

void role_list(struct buf *out, const char *between, const char *last)
{
	name_list(out, names, ROLE_COUNT, between, last);
}
