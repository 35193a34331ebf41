/*
 * What the tags of thinking are called, and whether one stands somewhere. Where such a tag counts,
 * and what is between two, is for who reads a reply: nothing here decides that.
 */
#include "base/think_tag.h"

#include <string.h>

struct tag {
	const char *text;
	size_t len;
};

#define TAG(text)                      \
	{                              \
		text, sizeof(text) - 1 \
	}
#define KIND(name)                                    \
	{                                             \
		TAG("<" name ">"), TAG("</" name ">") \
	}

/* Of each kind the opening tag, and the closing one. */
static const struct tag tags[THINK_KINDS][2] = {
	KIND("think"),
	KIND("thinking"),
	KIND("thought"),
	KIND("reasoning"),
};

/* How many of its bytes s begins with. */
static size_t alike(const char *s, size_t len, const struct tag *tag)
{
	size_t n = 0;

	while (n < len && n < tag->len && s[n] == tag->text[n])
		n++;
	return n;
}

static bool is_kind(int kind, size_t i)
{
	return kind == THINK_ANY || kind == (int)i;
}

size_t think_tag(const char *s, size_t len, bool closing, int *kind)
{
	for (size_t i = 0; i < THINK_KINDS; i++) {
		const struct tag *tag = &tags[i][closing];

		if (is_kind(*kind, i) && alike(s, len, tag) == tag->len) {
			*kind = (int)i;
			return tag->len;
		}
	}
	return 0;
}

bool think_tag_begun(const char *s, size_t len, bool closing, int kind)
{
	for (size_t i = 0; i < THINK_KINDS; i++) {
		const struct tag *tag = &tags[i][closing];

		if (is_kind(kind, i) && len < tag->len && alike(s, len, tag) == len)
			return true;
	}
	return false;
}

const char *think_tag_find(const char *s, size_t len, bool closing, int *kind, size_t *ret_len)
{
	const char *end = s + len;

	for (const char *at = s; (at = memchr(at, '<', (size_t)(end - at))); at++) {
		size_t n = think_tag(at, (size_t)(end - at), closing, kind);

		if (n) {
			*ret_len = n;
			return at;
		}
	}
	return NULL;
}

bool think_tag_mentioned(const char *s, size_t len, bool closing)
{
	const char *end = s + len;

	for (const char *at = s; (at = memchr(at, '<', (size_t)(end - at))); at++)
		for (size_t i = 0; i < THINK_KINDS; i++) {
			const struct tag *tag = &tags[i][closing];

			if (alike(at, (size_t)(end - at), tag) + 1 >= tag->len)
				return true;
		}
	return false;
}
