/*
 * From versions 1 and 2 of the schema to today's, in the transaction under way: who is killed in it
 * leaves the log as it was. It needs as much room again as the log has, beside it and in it, and
 * little memory. Internal to audit/.
 */
#ifndef AUDIT_MIGRATE_H
#define AUDIT_MIGRATE_H

#include "audit/db.h"

/* make: makes the schema of today. */
int migrate_from_1(struct audit *audit, int (*make)(struct audit *audit, struct error *err),
		   struct error *err);
int migrate_from_2(struct audit *audit, int (*make)(struct audit *audit, struct error *err),
		   struct error *err);

#endif
