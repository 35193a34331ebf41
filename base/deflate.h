/* Deflated bytes (zlib's format, RFC 1950) and gzip files (RFC 1952) through zlib. */
#ifndef BASE_DEFLATE_H
#define BASE_DEFLATE_H

#include "base/buf.h"
#include "base/error.h"

/* Adds the bytes deflated; -1 when there is no room in out. */
int deflate_bytes(const void *bytes, size_t len, struct buf *out);

/* Adds what they were before, which is `size` bytes: -1 when it is not, or there is no room. */
int inflate_bytes(const void *bytes, size_t len, size_t size, struct buf *out);

/* A gzip file of any number of members unpacked: what clients send with Content-Encoding: gzip.
 * Adds to out, whose ceiling is how much may come of it: more is ERR_BUDGET, what is no such file
 * ERR_USAGE. What was unpacked before stays there then. */
int gunzip(const void *bytes, size_t len, struct buf *out, struct error *err);

#endif
