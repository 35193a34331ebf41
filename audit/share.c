/*
 * Reads events of version 2, of which what many said was cut out. It judges nothing: what it cannot
 * follow stays as it is.
 */
#include "audit/share.h"

#include "audit/member.h"
#include "base/mem.h"

#include <string.h>

static const char *const members[] = { "isolation", "environment", "environments" };

static bool is_shared(const struct member *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strlen(members[i]) == m->key_len && !memcmp(members[i], m->key, m->key_len))
			return true;
	return false;
}

static bool find_member(const char *object, const struct member *like, struct member *ret)
{
	while (member_next(&object, ret))
		if (ret->key_len == like->key_len && !memcmp(ret->key, like->key, like->key_len))
			return true;
	return false;
}

void share_join(const char *rest, const char *shared, struct buf *text)
{
	const char *at = rest, *from = rest;
	struct member m;

	while (member_next(&at, &m)) {
		struct member value;

		if (!is_shared(&m) || m.end - m.value != 4 || memcmp(m.value, "null", 4) ||
		    !find_member(shared, &m, &value))
			continue;
		buf_add(text, from, (size_t)(m.value - from));
		buf_add(text, value.value, (size_t)(value.end - value.value));
		from = m.end;
	}
	buf_addstr(text, from);
}
