/* Runs that belong to somebody: others' are as if they were not there. */
#ifndef AGENT_DOORS_OWNED_H
#define AGENT_DOORS_OWNED_H

#include "audit/audit.h"

/*
 * The run that is called so, as audit_find has it. With an owner (a tag that each of its runs has)
 * only a whole id is one, and only of a run of it: ERR_USAGE, the same words for another's run and
 * for none.
 */
int owned_run(struct audit *audit, const char *which, const char *owner, struct audit_row *ret,
	      struct error *err);

#endif
