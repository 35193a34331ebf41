/*
 * What many events say in the same words is stored once: the values of a few
 * members of their data are cut out of the text, which has null there, and put
 * into a text of their own. Put together again they are the same text to the
 * byte, or nothing is cut. Internal to audit/.
 */
#ifndef AUDIT_SHARE_H
#define AUDIT_SHARE_H

#include "base/buf.h"

#include <stdbool.h>

/* False when there is nothing to cut; else the text with null, and {"member":value,...}. */
bool share_cut(const char *text, struct buf *rest, struct buf *shared);
/* Puts a text together; adds `rest` as it is where it does not fit. */
void share_join(const char *rest, const char *shared, struct buf *text);

#endif
