/*
 * A scanner of JSON objects as this program prints them, as far as their own
 * members. It judges nothing: what it cannot follow is not cut.
 */
#include "audit/share.h"

#include "base/mem.h"

#include <stdint.h>
#include <string.h>

static const char *const members[] = { "isolation", "environment", "environments" };

struct member {
	const char *key, *value, *end; /* key without its quotes; end: one past the value */
	size_t key_len;
};

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

/* One past the value that begins here, or NULL. */
static const char *after_value(const char *p)
{
	int depth = 0;

	if (*p != '{' && *p != '[' && *p != '"')
		return p + strcspn(p, ",]}");
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

/* The member at *at, which moves on; false at the end or where it cannot be followed. */
static bool next_member(const char **at, struct member *ret)
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
	ret->end = after_value(ret->value);
	if (!ret->end)
		return false;
	*at = ret->end;
	return true;
}

static bool is_shared(const struct member *m)
{
	for (size_t i = 0; i < ARRAY_SIZE(members); i++)
		if (strlen(members[i]) == m->key_len && !memcmp(members[i], m->key, m->key_len))
			return true;
	return false;
}

static bool find_member(const char *object, const struct member *like, struct member *ret)
{
	while (next_member(&object, ret))
		if (ret->key_len == like->key_len && !memcmp(ret->key, like->key, like->key_len))
			return true;
	return false;
}

void share_join(const char *rest, const char *shared, struct buf *text)
{
	const char *at = rest, *from = rest;
	struct member m, value;

	while (next_member(&at, &m)) {
		if (!is_shared(&m) || m.end - m.value != 4 || memcmp(m.value, "null", 4) ||
		    !find_member(shared, &m, &value))
			continue;
		buf_add(text, from, (size_t)(m.value - from));
		buf_add(text, value.value, (size_t)(value.end - value.value));
		from = m.end;
	}
	buf_addstr(text, from);
}

bool share_cut(const char *text, struct buf *rest, struct buf *shared)
{
	cleanup_buf struct buf again = BUF_INIT(SIZE_MAX / 2);
	const char *at = text, *from = text;
	struct member m;

	while (next_member(&at, &m)) {
		if (!is_shared(&m) || (*m.value != '{' && *m.value != '['))
			continue;
		buf_addch(shared, shared->len ? ',' : '{');
		buf_addch(shared, '"');
		buf_add(shared, m.key, m.key_len);
		buf_addstr(shared, "\":");
		buf_add(shared, m.value, (size_t)(m.end - m.value));
		buf_add(rest, from, (size_t)(m.value - from));
		buf_addstr(rest, "null");
		from = m.end;
	}
	if (!shared->len)
		return false;
	buf_addch(shared, '}');
	buf_addstr(rest, from);
	share_join(rest->data, shared->data, &again);
	return !strcmp(again.data, text);
}
