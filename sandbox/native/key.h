/* What two interpreters that wait, or two states, must have in common, as one text. */
#ifndef SANDBOX_NATIVE_KEY_H
#define SANDBOX_NATIVE_KEY_H

#include "base/buf.h"

/* Adds a text, or all of a list (NULL: of none), so that no two others add the same bytes. */
void key_add_text(struct buf *key, const char *text);
void key_add_list(struct buf *key, const char *const *list);

#endif
