/* Runs that belong to somebody: others' are as if they were not there. */
#ifndef AGENT_DOORS_OWNED_H
#define AGENT_DOORS_OWNED_H

#include "agent/doors/service/service.h"
#include "audit/audit.h"

/*
 * The run that is called so, as audit_find has it. With an owner (a tag that each of its runs has)
 * only a whole id is one, and only of a run of it: ERR_USAGE, the same words for another's run and
 * for none.
 */
int owned_run(struct audit *audit, const char *which, const char *owner, struct audit_row *ret,
	      struct error *err);
/* Appends those that the filter has to rows, as the service shows a run in a list. */
int owned_list(const struct worker *w, const struct audit_filter *filter, struct json *rows,
	       struct error *err);

#endif
