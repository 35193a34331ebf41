/*
 * How a command or a run ended. One enum of exit codes, one of run statuses,
 * one table of each; help, the man page and JSON take their words from here.
 */
#ifndef AGENT_STATUS_H
#define AGENT_STATUS_H

#include "base/error.h"

enum exit_code {
	EXIT_UNSET = -1, /* no command ends so; it makes the type signed, as exit codes are */
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_BUDGET = 3,
	EXIT_PROVIDER = 4,
	EXIT_CONFIG = 5,
	EXIT_SANDBOX = 6,
	EXIT_DENIED = 7,
	EXIT_DIVERGED = 8,
	EXIT_BATCH = 9,
	EXIT_LOG = 10,
	EXIT_DEADLINE = 124,
	EXIT_INTERRUPTED = 130,
	EXIT_TERMINATED = 143,
};

struct exit_row {
	enum exit_code code;
	const char *meaning;
};
/* Ends with a NULL meaning. */
extern const struct exit_row exit_table[];

/* The exit code of a command that failed with err. */
enum exit_code exit_code_of_error(const struct error *err);

enum run_status {
	RUN_SUCCESS,		/* done, verified to the required level */
	RUN_UNVERIFIED,		/* done, below the required level, nothing disproved it */
	RUN_FAILED,
	RUN_BUDGET,
	RUN_DENIED,
	RUN_PROVIDER_ERROR,
	RUN_SANDBOX_ERROR,
	RUN_CANCELLED,
};
const char *run_status_name(enum run_status status);
/* The status of a run that ended with err. */
enum run_status run_status_of_error(const struct error *err);

#endif
