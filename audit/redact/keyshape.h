/*
 * Strings that are secrets by what they look like: finds and measures what the rows of
 * audit/redact/shape.h describe.
 */
#ifndef AUDIT_KEYSHAPE_H
#define AUDIT_KEYSHAPE_H

#include "audit/redact/shape.h"

#include <stdbool.h>
#include <stddef.h>

/* State of one pass over one text; zeroed at its start. */
struct keyshape_pass {
	size_t dead_to[SHAPE_MAX]; /* a row finds nothing that starts before it */
	struct shape_work work;
};

/*
 * Whether the prefix of the row at text[start, prefix_end) begins a secret; then
 * [*ret_start, *ret_end) is what to take out.
 */
bool keyshape_match(struct keyshape_pass *pass, size_t row, const char *text, size_t len,
		    size_t start, size_t prefix_end, size_t *ret_start, size_t *ret_end);

#endif
