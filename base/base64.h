/* Base64 (RFC 4648, section 4), both ways. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/buf.h"

#include <stddef.h>

/* Appends the text of bytes, padded. 0, or -1 past the ceiling. */
int base64_encode(struct buf *out, const void *bytes, size_t len);
/* The same as a string of its own; the caller frees. */
char *base64_text(const void *bytes, size_t len);

/* Appends the bytes of text; blanks and line ends in it are passed over, padding may be absent.
 * -1, with nothing appended, when it is no base64 or past the ceiling. */
int base64_decode(struct buf *out, const char *text, size_t len);

#endif
