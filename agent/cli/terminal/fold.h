/* Lines for people, broken between words. */
#ifndef AGENT_FOLD_H
#define AGENT_FOLD_H

#include "base/buf.h"

#include <stddef.h>

/* Text, each of whose lines goes on in the next, set in by two, where it would pass columns; at: so
 * many are taken of its first. A word that is longer than a line stays whole. */
void fold_words(struct buf *out, const char *text, size_t len, size_t at, size_t columns);

#endif
