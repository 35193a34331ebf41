/* The compression function of SHA-256 (FIPS 180-4, 6.2.2) by the processor's own instructions. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK 64

/* Whether this processor has them. */
bool sha256_can(void);
/* Takes count blocks of bytes into the state; only where sha256_can. */
void sha256_blocks(uint32_t state[8], const unsigned char *bytes, size_t count);

#endif
