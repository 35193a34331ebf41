/*
 * A scanner of JSON as this program prints it, without a space between. It judges nothing, and
 * copies nothing.
 */
#include "audit/member.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* One past the string that begins here, or NULL. */
static const char *after_string(const char *p)
{
	if (*p != '"')
		return NULL;
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : NULL;
}

const char *member_value_end(const char *p)
{
	if (*p != '{' && *p != '[' && *p != '"')
		return p + strcspn(p, ",]}");
	int depth = 0;
	do {
		if (*p == '"') {
			p = after_string(p);
			if (!p)
				return NULL;
			continue;
		}
		depth += *p == '{' || *p == '[';
		depth -= *p == '}' || *p == ']';
		if (!*p++)
			return NULL;
	} while (depth > 0);
	return p;
}

bool member_next(const char **at, struct member *ret)
{
	const char *p = *at;

	if (*p != '{' && *p != ',')
		return false;
	ret->key = p + 2;
	p = after_string(p + 1);
	if (!p || *p != ':')
		return false;
	ret->key_len = (size_t)(p - 1 - ret->key);
	ret->value = p + 1;
	ret->end = member_value_end(ret->value);
	if (!ret->end)
		return false;
	*at = ret->end;
	return true;
}

bool member_is_hash(const char *p, size_t len)
{
	return len == HASH_HEX_LEN && strspn(p, "0123456789abcdef") == HASH_HEX_LEN;
}

static bool has_key(const struct member *m, const char *key)
{
	return m->key_len == strlen(key) && !memcmp(m->key, key, m->key_len);
}

bool member_reference(const char *p, const char *end, char ret_sha256[HASH_HEX_LEN + 1],
		      int64_t *ret_size)
{
	struct member hash, size;

	if (*p != '{' || !member_next(&p, &hash) || !member_next(&p, &size) || p + 1 != end ||
	    !has_key(&hash, "sha256") || !has_key(&size, "size") || *hash.value != '"' ||
	    !member_is_hash(hash.value + 1, (size_t)(hash.end - hash.value) - 2) ||
	    !isdigit((unsigned char)*size.value))
		return false;
	memcpy(ret_sha256, hash.value + 1, HASH_HEX_LEN);
	ret_sha256[HASH_HEX_LEN] = '\0';
	char *after;
	*ret_size = strtoll(size.value, &after, 10);
	return after == size.end;
}
