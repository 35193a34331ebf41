/*
 * The one table of what stages and roles are called. Names stand in records, scripts and options:
 * one may be added, none changed.
 */
#include "agent/stage.h"

#include "base/buf.h"

#include <string.h>

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
	for (int i = 0; i < STAGE_COUNT; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
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
	for (int i = 0; i < ROLE_COUNT; i++)
		buf_addf(out, "%s%s", i == 0 ? "" : i + 1 == ROLE_COUNT ? last : between, names[i]);
}
