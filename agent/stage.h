/*
 * The stages of a run: one enum, one table of names. A record, a prompt, a line of a
 * script, --role-model and --from call them by these; statuses are in agent/status.h,
 * levels in verifier/check/check.h.
 */
#ifndef AGENT_STAGE_H
#define AGENT_STAGE_H

#include <stdbool.h>

struct buf;

enum stage {
	/* Those that ask a model, in one of its roles, */
	STAGE_PLAN,
	STAGE_CODE,
	STAGE_REPAIR,
	STAGE_TESTS,
	STAGE_CROSS_CHECK,
	STAGE_JUDGE,
	STAGE_ANSWER,
	STAGE_COMPLETE, /* or in none. */
	STAGE_TASK,
	STAGE_INSPECT,
	STAGE_LOOK,
	STAGE_EXTRACT,
	STAGE_SCREEN,
	STAGE_APPROVE,
	STAGE_EXECUTE,
	STAGE_VERIFY,
	STAGE_TOOL,   /* a call that the program made while it ran */
	STAGE_INPUTS, /* what those hold that are not kept whole */
	STAGE_END,    /* for the clock alone */
	STAGE_COUNT,
};
const char *stage_name(enum stage stage);
int stage_parse(const char *name); /* -1 when unknown */
bool stage_asks_model(const char *name);

/* Whom a model can be: each has its stage, and its prompt is called so. */
enum role {
	ROLE_PLAN = STAGE_PLAN,
	ROLE_CODE = STAGE_CODE,
	ROLE_REPAIR = STAGE_REPAIR,
	ROLE_TESTS = STAGE_TESTS,
	ROLE_CROSS_CHECK = STAGE_CROSS_CHECK,
	ROLE_JUDGE = STAGE_JUDGE,
	ROLE_ANSWER = STAGE_ANSWER,
	ROLE_COUNT,
};
const char *role_name(enum role role);
int role_parse(const char *name); /* -1 when unknown */
/* The names of all; last stands before the last one. */
void role_list(struct buf *out, const char *between, const char *last);

#endif
