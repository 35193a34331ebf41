/*
 * Looks what passes the sieve up by its four bytes, and compares it with the prefixes that have
 * them. The tables are the build's (sieve_compile.c); nothing here holds anything of any text.
 */
#include "audit/redact/prefix.h"

#include "audit/redact/lanes.h"
#include "audit/redact/shape.h"
#include "audit/redact/sieve.h"
#include "audit/redact/sieve_table.h"

#include <stdint.h>
#include <string.h>

void prefix_first(const char *prefix, struct buf *out)
{
	for (const char *p = prefix; *p; p++) {
		if (*p != '[') {
			buf_addch(out, *p);
			continue;
		}
		buf_addch(out, p[1]);
		p = strchr(p, ']');
	}
}

/* --- looking --- */

#define BLOCKS 64 /* at once */

struct search {
	const struct lanes *lanes;
	const char *text;
	size_t len, compared;
	void (*hit)(void *self, size_t row, size_t start, size_t end);
	void *self;
};

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

/* Whether the set that begins at p, one byte or those in brackets, has c; *ret_rest is behind it.
 */
static bool has_byte(const char *p, char c, bool any_case, const char **ret_rest)
{
	const char *end = *p == '[' ? strchr(p, ']') : NULL;

	*ret_rest = end ? end + 1 : p + 1;
	if (!end)
		return *p == c || (any_case && fold(*p) == fold(c));
	bool found = false;
	for (p++; p < end && !found; p++) {
		const bool range = end - p >= 3 && p[1] == '-';

		found = range ? c >= *p && c <= p[2] : c == *p;
		p += range ? 2 : 0;
	}
	return found;
}

/* Where the prefix ends that begins at start; 0: it does not. */
static size_t prefix_end(const struct search *s, const struct shape *shape, size_t start)
{
	const char *p = shape->prefix;
	size_t at = start;

	while (*p && at < s->len && has_byte(p, s->text[at], shape->flags & SHAPE_ANY_CASE, &p))
		at++;
	return *p ? 0 : at;
}

/* Every row whose window this is, there. */
static void compare_window(struct search *s, uint32_t window, size_t at)
{
	size_t next = sieve_heads[sieve_chain(window)];

	for (; next; next = sieve_places[next - 1].next, s->compared++) {
		const struct sieve_place *place = &sieve_places[next - 1];

		if (place->window != window || at < place->offset)
			continue;
		size_t end = at + place->whole;
		if (!place->whole || end > s->len)
			end = prefix_end(s, &shape_table[place->row], at - place->offset);
		if (end)
			s->hit(s->self, place->row, at - place->offset, end);
	}
}

/* The places of a block that passed: block, which begins at text + at, has what is read. */
static void compare_block(struct search *s, const char *block, size_t at, uint64_t passed)
{
	for (; passed; passed &= passed - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(passed);
		uint32_t window;

		memcpy(&window, block + i, sizeof(window));
		if (window & ~SIEVE_SHORT) /* else both are the same */
			compare_window(s, window, at + i);
		compare_window(s, window & SIEVE_SHORT, at + i);
	}
}

/* The last blocks, the text of which has no room for what is read behind it. */
static void compare_last(struct search *s, size_t at)
{
	for (; at < s->len; at += LANES_BLOCK) {
		char last[LANES_BLOCK + LANES_BEHIND];
		const size_t rest = s->len - at;

		memset(last, 0, sizeof(last));
		memcpy(last, s->text + at, rest < sizeof(last) ? rest : sizeof(last));
		uint64_t passed;
		s->lanes->sieve(&sieve, last, 1, &passed);
		if (rest < LANES_BLOCK)
			passed &= (UINT64_C(1) << rest) - 1;
		compare_block(s, last, at, passed);
	}
}

size_t prefix_each(const char *text, size_t len,
		   void (*hit)(void *self, size_t row, size_t start, size_t end), void *self)
{
	struct search s = { lanes_of(LANES_WIDEST), text, len, 0, hit, self };
	size_t at = 0, blocks;

	for (; len - at >= LANES_BLOCK + LANES_BEHIND; at += blocks * LANES_BLOCK) {
		uint64_t passed[BLOCKS];

		blocks = (len - at - LANES_BEHIND) / LANES_BLOCK;
		if (blocks > BLOCKS)
			blocks = BLOCKS;
		s.lanes->sieve(&sieve, text + at, blocks, passed);
		for (size_t i = 0; i < blocks; i++)
			compare_block(&s, text + at + i * LANES_BLOCK, at + i * LANES_BLOCK,
				      passed[i]);
	}
	compare_last(&s, at);
	return s.compared;
}
