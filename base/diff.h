/* Two texts side by side: where they part, and all of it as `diff -u` writes it, within bounds. */
#ifndef BASE_DIFF_H
#define BASE_DIFF_H

#include "base/buf.h"

#include <stddef.h>

struct diff_place {
	size_t at;	    /* the first byte that differs, or that one of them has not */
	size_t start, line; /* first byte and number, from 1, of the line that it is in */
};

struct diff_place diff_place(const char *a, size_t a_len, const char *b, size_t b_len);

struct diff_bounds {
	size_t lines;	   /* of output, the last of which may say how many are left out */
	size_t line_bytes; /* of each; a longer one is cut */
};

/*
 * Appends the hunks, three lines of context around each: "@@ -1,2 +1,2 @@", then lines that
 * begin with a blank, "-" or "+". Bytes are as they were but for what is cut; a last line
 * without its newline is given one. Equal texts add nothing. Texts that differ in too much
 * to be aligned are one hunk.
 */
void diff_unified(const char *a, size_t a_len, const char *b, size_t b_len,
		  const struct diff_bounds *bounds, struct buf *out);

#endif
