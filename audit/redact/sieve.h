/*
 * The sieve that prefixes are found by: what the build makes of the table of audit/redact/shape.h
 * (sieve_compile.c), and prefix.c reads.
 *
 * Each row has a window, the four bytes of its prefix that are the least common in ordinary text
 * (three, of a prefix of three). Windows are in buckets; of each bucket the tables say which bytes
 * it has at each place of a window, for processors that can look a byte up, or which low and which
 * high halves of bytes, for those that can look up half of one. What passes in some bucket is
 * looked up by its four bytes, and then compared in full.
 */
#ifndef AUDIT_SIEVE_H
#define AUDIT_SIEVE_H

#include <stdint.h>

#define SIEVE_WINDOW 4
#define SIEVE_SETS   3 /* of eight buckets, a bit each */
#define SIEVE_CHAINS 8192
#define SIEVE_SHORT  UINT32_C(0x00FFFFFF) /* of the window of a prefix of three */

/* [set][place of the window][byte of ASCII, or half of it] */
struct sieve {
	uint8_t exact[SIEVE_SETS][SIEVE_WINDOW][128];
	uint8_t low[SIEVE_SETS][SIEVE_WINDOW][16], high[SIEVE_SETS][SIEVE_WINDOW][16];
};

/* "The prefix of this row has this window at offset." */
struct sieve_place {
	uint32_t window;
	uint16_t row;
	uint16_t next; /* index + 1; 0 ends */
	uint8_t offset;
	uint8_t whole; /* the length of the prefix, when the window is all of it */
};

static inline uint32_t sieve_chain(uint32_t window)
{
	return window * UINT32_C(2654435761) >> 19;
}
_Static_assert(SIEVE_CHAINS == 1 << (32 - 19), "sieve_chain gives a number of a chain");

#endif
