/* What many events say in the same words (schema.sql), when none says it any more. Internal to
 * audit/. */
#ifndef AUDIT_OBJECTS_H
#define AUDIT_OBJECTS_H

#include "audit/db.h"

/* Makes place for those of runs that go, in this connection alone. */
int objects_begin(struct audit *audit, struct error *err);
/* Before a run's events go, in their transaction: what they share with others may be needed by none
 * from then on. */
int objects_collect(struct audit *audit, int64_t run, struct error *err);
/*
 * Removes those collected that no event needs: outside of a transaction. The events of other runs
 * are gone through in steps from the newest, until each was seen, which is soon where runs are
 * alike; who writes waits for none of that.
 */
int objects_remove(struct audit *audit, struct error *err);

#endif
