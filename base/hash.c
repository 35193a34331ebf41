/*
 * SHA-256, and the only place that includes its library, which does it where the processor has no
 * instructions for it (sha256.h). It cannot fail, keeps no bytes, and is not for secrets that can
 * be guessed: what is hashed with a salt gets it from the caller.
 */
#include "base/hash.h"

#include "base/mem.h"
#include "base/sha256.h"

#include <sha2.h>
#include <stdlib.h>
#include <string.h>

struct hash {
	bool by_processor;
	SHA2_CTX ctx; /* otherwise; what follows is of no meaning then */
	uint32_t state[8];
	uint64_t len; /* so far; its last bytes, which make no block yet, are in rest */
	unsigned char rest[SHA256_BLOCK];
};

/* FIPS 180-4, 5.3.3. */
static const uint32_t initial[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

static void start(struct hash *h)
{
	h->by_processor = sha256_can();
	h->len = 0;
	memcpy(h->state, initial, sizeof(initial));
	if (!h->by_processor)
		SHA256Init(&h->ctx);
}

static void add(struct hash *h, const unsigned char *bytes, size_t len)
{
	const size_t had = h->len % SHA256_BLOCK;
	size_t take = had ? SHA256_BLOCK - had : 0;

	h->len += len;
	take = take < len ? take : len;
	memcpy(h->rest + had, bytes, take);
	if (had && had + take == SHA256_BLOCK)
		sha256_blocks(h->state, h->rest, 1);
	bytes += take;
	len -= take;
	sha256_blocks(h->state, bytes, len / SHA256_BLOCK);
	if (len)
		memcpy(h->rest, bytes + len / SHA256_BLOCK * SHA256_BLOCK, len % SHA256_BLOCK);
}

/* A one, zeros, and the length in bits: FIPS 180-4, 5.1.1. */
static void pad(struct hash *h)
{
	unsigned char end[2 * SHA256_BLOCK] = { 0x80 };
	const uint64_t bits = h->len * 8;
	const size_t had = h->len % SHA256_BLOCK;
	const size_t zeros = (had < 56 ? 56 : 56 + SHA256_BLOCK) - had;

	for (size_t i = 0; i < 8; i++)
		end[zeros + i] = (unsigned char)(bits >> (56 - 8 * i));
	add(h, end, zeros + 8);
}

static void finish(struct hash *h, char ret[HASH_HEX_LEN + 1])
{
	static const char digits[] = "0123456789abcdef";

	if (!h->by_processor) {
		SHA256End(&h->ctx, ret);
		return;
	}
	pad(h);
	for (size_t i = 0; i < HASH_HEX_LEN; i++)
		ret[i] = digits[h->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
	ret[HASH_HEX_LEN] = '\0';
}

struct hash *hash_start(void)
{
	struct hash *h = mem_alloc(sizeof(*h));

	start(h);
	return h;
}

void hash_add(struct hash *h, const void *bytes, size_t len)
{
	if (!len) /* bytes may be NULL then */
		return;
	if (h->by_processor)
		add(h, bytes, len);
	else
		SHA256Update(&h->ctx, bytes, len);
}

void hash_finish(struct hash *h, char ret[HASH_HEX_LEN + 1])
{
	finish(h, ret);
	free(h);
}

void hash_sha256(const void *bytes, size_t len, char ret[HASH_HEX_LEN + 1])
{
	struct hash h;

	start(&h);
	hash_add(&h, bytes, len);
	finish(&h, ret);
}
