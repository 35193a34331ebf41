/*
 * Exit codes: what they mean, and whose they are. The one place where an error or a status
 * becomes a number; scripts depend on each. None comes to mean another thing.
 */
#include "agent/cli/exit_code.h"

#include "agent/cli/signals.h"

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
	{ EXIT_NOT_REPLAYED, "the record cannot be replayed (git bisect run skips such a one)" },
	{ EXIT_INTERRUPTED, "interrupted" },
	{ EXIT_TERMINATED, "terminated" },
	{ 0, NULL },
};

/* Of a command or a run that an error ended. */
static const enum exit_code error_codes[] = {
	[ERR_NONE] = EXIT_OK,		[ERR_FAILED] = EXIT_FAILED,
	[ERR_USAGE] = EXIT_USAGE,	[ERR_BUDGET] = EXIT_BUDGET,
	[ERR_PROVIDER] = EXIT_PROVIDER, [ERR_CONFIG] = EXIT_CONFIG,
	[ERR_SANDBOX] = EXIT_SANDBOX,	[ERR_DENIED] = EXIT_DENIED,
	[ERR_LOG] = EXIT_LOG,		[ERR_CANCELLED] = EXIT_INTERRUPTED,
	[ERR_DEADLINE] = EXIT_DEADLINE,
};

/* Of a run that came to its end. */
static const enum exit_code run_codes[RUN_STATUS_COUNT] = {
	[RUN_SUCCESS] = EXIT_OK,
	[RUN_UNVERIFIED] = EXIT_FAILED,
	[RUN_FAILED] = EXIT_FAILED,
	[RUN_BUDGET] = EXIT_BUDGET,
	[RUN_DENIED] = EXIT_DENIED,
	[RUN_PROVIDER_ERROR] = EXIT_PROVIDER,
	[RUN_SANDBOX_ERROR] = EXIT_SANDBOX,
	[RUN_CANCELLED] = EXIT_INTERRUPTED,
};

/* What cancels is a signal, and which one is to be seen. */
static enum exit_code by_signal(enum exit_code code)
{
	return code == EXIT_INTERRUPTED && command_signal() == SIGTERM ? EXIT_TERMINATED : code;
}

enum exit_code exit_code_of_error(const struct error *err)
{
	return by_signal(error_codes[err->kind]);
}

int exit_code_of_run(enum run_status status, enum error_kind ended_by)
{
	return (int)by_signal(ended_by != ERR_NONE ? error_codes[ended_by] : run_codes[status]);
}
