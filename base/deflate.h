/* Deflated bytes (zlib's format, RFC 1950) through zlib. */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/buf.h"

/* Adds the bytes deflated; -1 when there is no room in out. */
int deflate_bytes(const void *bytes, size_t len, struct buf *out);

/* Adds what they were before, which is `size` bytes: -1 when it is not, or there is no room. */
int inflate_bytes(const void *bytes, size_t len, size_t size, struct buf *out);

#endif
