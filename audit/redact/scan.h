/*
 * Finds any of many strings in one pass.
 *
 * A string of at least L bytes covers, wherever it lies, a triple of bytes that
 * starts at a multiple of L-2. So only every (L-2)th triple of the text is
 * looked up, in an 8 KiB bitmap that stays in the first-level cache; a hit is
 * then compared in full. 1 MiB without a hit costs about a millisecond.
 */
#ifndef AUDIT_SCAN_H
#define AUDIT_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct scan;

/* min_len (at least 3) is the length of the shortest string to come. */
struct scan *scan_new(size_t min_len);
void scan_free(struct scan *scan);

/* Copies bytes; len >= min_len. owner is given back with each hit. */
void scan_add(struct scan *scan, const char *bytes, size_t len, size_t owner);

/*
 * Calls hit for every occurrence, overlapping ones too: starts of one triple are
 * in no order, otherwise rising. hit returns false to stop. Returns whether
 * it was stopped.
 */
bool scan_each(const struct scan *scan, const char *text, size_t len,
	       bool (*hit)(void *self, size_t owner, size_t start, size_t end), void *self);

#endif
