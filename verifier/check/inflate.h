/* How many bytes a zlib stream (RFC 1950, 1951) decodes to. Inside verifier/ only. */
#ifndef VERIFIER_INFLATE_H
#define VERIFIER_INFLATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reads the stream's codes without making its bytes: -1 when it is malformed
 * or cut short, else the length of what it decodes to, or max + 1 when that is
 * more than max. Time is linear in len and bounded by max.
 */
int64_t inflate_length(const unsigned char *data, size_t len, int64_t max);

#endif
