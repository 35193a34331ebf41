/*
 * SHA-256, and the only place that includes its library. It cannot fail, keeps no bytes, and is
 * not for secrets that can be guessed: what is hashed with a salt gets it from the caller.
 */
#include "base/hash.h"

#include "base/mem.h"

#include <sha2.h>
#include <stdlib.h>

struct hash {
	SHA2_CTX ctx;
};

struct hash *hash_start(void)
{
	struct hash *h = mem_alloc(sizeof(*h));

	SHA256Init(&h->ctx);
	return h;
}

void hash_add(struct hash *h, const void *bytes, size_t len)
{
	if (len) /* bytes may be NULL then */
		SHA256Update(&h->ctx, bytes, len);
}

void hash_finish(struct hash *h, char ret[HASH_HEX_LEN + 1])
{
	SHA256End(&h->ctx, ret);
	free(h);
}

void hash_sha256(const void *bytes, size_t len, char ret[HASH_HEX_LEN + 1])
{
	struct hash *h = hash_start();

	hash_add(h, bytes, len);
	hash_finish(h, ret);
}
