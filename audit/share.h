/*
 * How events lay in the file in version 2: the values of a few members of their data stood in a
 * text of their own, and null in theirs. For the step to version 3 (migrate.c). Internal to audit/.
 */
#ifndef AUDIT_SHARE_H
#define AUDIT_SHARE_H

#include "base/buf.h"

/* Puts a text together; adds `rest` as it is where it does not fit. */
void share_join(const char *rest, const char *shared, struct buf *text);

#endif
