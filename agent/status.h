/* How a run ended: one enum, one table of names. */
#ifndef AGENT_STATUS_H
#define AGENT_STATUS_H

#include "base/error.h"

enum run_status {
	RUN_SUCCESS,	/* done, verified to the required level */
	RUN_UNVERIFIED, /* done, below the required level, nothing disproved it */
	RUN_FAILED,
	RUN_BUDGET,
	RUN_DENIED,
	RUN_PROVIDER_ERROR,
	RUN_SANDBOX_ERROR,
	RUN_CANCELLED,
	RUN_STATUS_COUNT,
};
const char *run_status_name(enum run_status status);
int run_status_parse(const char *name); /* -1 when unknown */

/* The status of a run that ended with an error of that kind. */
enum run_status run_status_of_error(enum error_kind kind);

#endif
