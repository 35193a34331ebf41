/*
 * Finds every prefix of the table of audit/redact/shape.h in one pass: through the sieve
 * (sieve.h), 64 bytes at a time where the processor can (lanes.h). 1 MiB without a hit costs
 * some tenth of a millisecond then.
 */
#ifndef AUDIT_PREFIX_H
#define AUDIT_PREFIX_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Calls hit for every row and place where its prefix stands; the starts of one row rise.
 * Returns how often prefixes were compared with the text.
 */
size_t prefix_each(const char *text, size_t len,
		   void (*hit)(void *self, size_t row, size_t start, size_t end), void *self);

/* Appends prefix with the first of each set in it, as an example has it. */
void prefix_first(const char *prefix, struct buf *out);

#endif
