/*
 * Parts of a text as what they encode: lines with escapes as of JSON, words with percent signs,
 * and whatever of base64 and hex digits is plain ASCII, so that secrets are found in them.
 */
#ifndef AUDIT_VIEW_H
#define AUDIT_VIEW_H

#include "audit/redact/decoded.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where the prefixes of the table begin in a text: a bit for each VIEW_PLACE bytes. */
#define VIEW_PLACE 64
struct view_places {
	uint64_t *bits; /* owned; all for len bytes */
};
void view_places_init(struct view_places *places, size_t len);
void view_places_add(struct view_places *places, size_t at);

/*
 * Calls see for every such part of text, in no order. A line whose escapes hide no letter is
 * decoded only where a prefix is. digits: look for runs of digits, too.
 */
void view_each(const char *text, size_t len, const struct view_places *places, bool digits,
	       view_see *see, void *self);

/* The bytes of the origin that [start, end) of the view came from. */
void view_origin(const struct view *view, size_t start, size_t end, size_t *ret_start,
		 size_t *ret_end);

/* Whether a word may begin at start: after no letter or digit, or after an escape that only
 * looks like one (\n, %3D, \u003d), as in JSON and URLs. */
bool view_word_starts(const char *text, size_t start);

#endif
