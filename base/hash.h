/* SHA-256 (FIPS 180-4), by the processor or through libmd. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>

#define HASH_HEX_LEN 64

struct hash;

/* Hex digest of len bytes, NUL-terminated, into ret. */
void hash_sha256(const void *bytes, size_t len, char ret[HASH_HEX_LEN + 1]);

/* Incremental: start, add, finish (which frees). */
struct hash *hash_start(void);
void hash_add(struct hash *h, const void *bytes, size_t len);
void hash_finish(struct hash *h, char ret[HASH_HEX_LEN + 1]);

#endif
