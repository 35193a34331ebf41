/* A part of a text as what it encodes, and where each of its bytes came from. */
#ifndef AUDIT_DECODED_H
#define AUDIT_DECODED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum view_kind { VIEW_JSON, VIEW_PERCENT, VIEW_BASE64, VIEW_HEX };

/* Behind an escape: where that is in the view, and in what it was decoded from. */
struct view_mark {
	uint32_t at, from;
};

struct view {
	enum view_kind kind;
	const char *text;
	size_t len;
	size_t origin;		       /* where it begins in what it was decoded from */
	const struct view_mark *marks; /* JSON, percent: rising */
	size_t mark_count;
	bool digits; /* it may have runs of digits that its origin has not */
};

typedef void view_see(void *self, const struct view *view);

#endif
