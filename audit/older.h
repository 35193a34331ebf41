/* Logs of an older version, for who only reads. Internal to audit/. */
#ifndef AUDIT_OLDER_H
#define AUDIT_OLDER_H

#include "audit/db.h"

/* Puts a copy of the log, in memory, in the place of the connection: what is done to it is done to
 * no file. Refuses a log that is too large for that. The caller sets the new connection up. */
int older_copy(struct audit *audit, struct error *err);

#endif
