/*
 * How a run ended. What a program that runs the engine does with that is its own; the names stand
 * in records and never change.
 */
#include "agent/status.h"

#include "base/name.h"

static const char *const names[RUN_STATUS_COUNT] = {
	[RUN_SUCCESS] = "success",
	[RUN_UNVERIFIED] = "unverified",
	[RUN_FAILED] = "failed",
	[RUN_BUDGET] = "budget",
	[RUN_DENIED] = "denied",
	[RUN_PROVIDER_ERROR] = "provider_error",
	[RUN_SANDBOX_ERROR] = "sandbox_error",
	[RUN_CANCELLED] = "cancelled",
};

const char *run_status_name(enum run_status status)
{
	return names[status];
}

int run_status_parse(const char *name)
{
	return name_find(names, RUN_STATUS_COUNT, name);
}

enum run_status run_status_of_error(enum error_kind kind)
{
	switch (kind) {
	case ERR_BUDGET:
	case ERR_DEADLINE:
		return RUN_BUDGET;
	case ERR_PROVIDER:
	case ERR_CONFIG:
		return RUN_PROVIDER_ERROR;
	case ERR_SANDBOX:
		return RUN_SANDBOX_ERROR;
	case ERR_DENIED:
		return RUN_DENIED;
	case ERR_CANCELLED:
		return RUN_CANCELLED;
	case ERR_NONE:
	case ERR_FAILED:
	case ERR_USAGE:
	case ERR_LOG:
	default:
		return RUN_FAILED;
	}
}
