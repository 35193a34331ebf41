/* Members of JSON objects as texts, so that what is stored is what was hashed. Internal to audit/.
 */
#ifndef AUDIT_MEMBER_H
#define AUDIT_MEMBER_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct member {
	const char *key, *value, *end; /* key without its quotes; end: one past the value */
	size_t key_len;
};

/* One past the value that begins here, or NULL. */
const char *member_value_end(const char *p);
/* The member at *at, which moves on; false at the end or where it cannot be followed. */
bool member_next(const char **at, struct member *ret);

/* Whether so many characters are a hash. */
bool member_is_hash(const char *p, size_t len);
/* Whether the value from p to end is {"sha256":...,"size":...}, which refers to a blob. */
bool member_reference(const char *p, const char *end, char ret_sha256[HASH_HEX_LEN + 1],
		      int64_t *ret_size);

#endif
