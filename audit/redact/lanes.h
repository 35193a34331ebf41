/*
 * What is looked at in 64 bytes at once, where the processor has AVX2; elsewhere byte by byte,
 * with the same results.
 */
#ifndef AUDIT_LANES_H
#define AUDIT_LANES_H

#include "audit/redact/sieve.h"

#include <stddef.h>
#include <stdint.h>

#define LANES_BLOCK 64
/* How many bytes behind a block are read, and must be there. */
#define LANES_BEHIND (SIEVE_WINDOW - 1)

/* Bytes of ASCII, a bit for each: of byte 0xRC bit R of columns[C]. */
struct lanes_class {
	uint8_t columns[16];
};

/* A byte, and either of two behind it. */
struct lanes_pair {
	char first, second[2];
};

struct lanes {
	/* The bytes of each block where a window of the sieve may begin: bit 0 is the first. */
	void (*sieve)(const struct sieve *sieve, const char *text, size_t blocks, uint64_t *ret);
	/* The bytes of each block that are in the class. */
	void (*members)(const struct lanes_class *class, const char *text, size_t blocks,
			uint64_t *ret);
	/* Where the next such pair begins, from at on; len without one. */
	size_t (*pair)(const char *text, size_t len, size_t at, const struct lanes_pair *pair);
	/*
	 * Decodes base64 of either alphabet (RFC 4648), 32 digits at a time, as long as all are
	 * digits and what they stand for is ASCII; `to` has room for len bytes. How many digits
	 * those were: 0, too, where it cannot be done at once.
	 */
	size_t (*decode)(const char *text, size_t len, char *to);
};

enum lanes_width { LANES_PLAIN, LANES_WIDE, LANES_WIDEST };

/* The widest that this processor has, and no wider than that. */
const struct lanes *lanes_of(enum lanes_width width);

#endif
