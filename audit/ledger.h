/*
 * The log's own chain: that it was made, which runs ended, which were removed
 * and why. Its head is the link of its last row: kept elsewhere, it says later
 * whether what was before it is still so. Internal to audit/.
 */
#ifndef AUDIT_LEDGER_H
#define AUDIT_LEDGER_H

#include "audit/db.h"

int ledger_made(struct audit *audit, struct error *err);
/* As db_ready. */
void ledger_ready(struct audit *audit);
int ledger_ended(struct audit *audit, int64_t run, const char *id, struct error *err);
/* Before its rows go. */
int ledger_removed(struct audit *audit, int64_t run, const char *id, const char *why,
		   struct error *err);

#endif
