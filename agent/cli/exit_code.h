/*
 * What a command ends with: one enum of exit codes, one table of what they mean,
 * from which help and the man page take their words. A run's status becomes one here.
 */
#ifndef AGENT_EXIT_CODE_H
#define AGENT_EXIT_CODE_H

#include "agent/status.h"
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
	EXIT_NOT_REPLAYED = 125,
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
/* The exit code of a run: of the error that ended it, else (ERR_NONE) of its status. */
int exit_code_of_run(enum run_status status, enum error_kind ended_by);

#endif
