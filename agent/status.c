#include "agent/status.h"

#include "agent/command.h"

#include <signal.h>
#include <stddef.h>

const struct exit_row exit_table[] = {
	{ EXIT_OK, "done, verified to the required level" },
	{ EXIT_FAILED, "failed, or below the required level" },
	{ EXIT_USAGE, "usage" },
	{ EXIT_BUDGET, "a budget ran out" },
	{ EXIT_PROVIDER, "the provider failed" },
	{ EXIT_CONFIG, "configuration or key" },
	{ EXIT_SANDBOX, "the sandbox could not be set up" },
	{ EXIT_DENIED, "denied by screening or by the user" },
	{ EXIT_DIVERGED, "replay diverged" },
	{ EXIT_BATCH, "batch finished with failed tasks" },
	{ EXIT_LOG, "the log could not be written" },
	{ EXIT_DEADLINE, "--deadline passed" },
	{ EXIT_INTERRUPTED, "interrupted" },
	{ EXIT_TERMINATED, "terminated" },
	{ 0, NULL },
};

enum exit_code exit_code_of_error(const struct error *err)
{
	switch (err->kind) {
	case ERR_NONE:
		return EXIT_OK;
	case ERR_USAGE:
		return EXIT_USAGE;
	case ERR_BUDGET:
		return EXIT_BUDGET;
	case ERR_PROVIDER:
		return EXIT_PROVIDER;
	case ERR_CONFIG:
		return EXIT_CONFIG;
	case ERR_SANDBOX:
		return EXIT_SANDBOX;
	case ERR_DENIED:
		return EXIT_DENIED;
	case ERR_LOG:
		return EXIT_LOG;
	case ERR_CANCELLED:
		return command_signal() == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
	case ERR_DEADLINE:
		return EXIT_DEADLINE;
	case ERR_FAILED:
	default:
		return EXIT_FAILED;
	}
}

const char *run_status_name(enum run_status status)
{
	static const char *const names[] = {
		[RUN_SUCCESS] = "success",
		[RUN_UNVERIFIED] = "unverified",
		[RUN_FAILED] = "failed",
		[RUN_BUDGET] = "budget",
		[RUN_DENIED] = "denied",
		[RUN_PROVIDER_ERROR] = "provider_error",
		[RUN_SANDBOX_ERROR] = "sandbox_error",
		[RUN_CANCELLED] = "cancelled",
	};

	return names[status];
}

enum run_status run_status_of_error(const struct error *err)
{
	switch (err->kind) {
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
