/*
 * A gzip file (RFC 1952) unpacked: what clients send with Content-Encoding: gzip. There is no
 * library behind it, for it is all that is needed of one.
 */
#ifndef BASE_GUNZIP_H
#define BASE_GUNZIP_H

#include "base/buf.h"
#include "base/error.h"

/* Adds to out, whose ceiling is how much may come of it: more is ERR_BUDGET, what is no such file
 * ERR_USAGE. What was unpacked before stays there then. */
int gunzip(const void *bytes, size_t len, struct buf *out, struct error *err);

#endif
