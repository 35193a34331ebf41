/*
 * The table of pairs that prefixes are found by. It is made once, from the table of shapes, and
 * kept; it holds nothing of any text. A prefix of three or more bytes has, at even and at odd
 * places alike, a window of two pairs, of which at least one lies within the prefix: the window
 * that is the least common in ordinary text is taken.
 */
#include "audit/redact/prefix.h"

#include "audit/redact/shape.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PREFIX_MAX 64
#define STEP	   2			  /* bytes from one window to the next */
#define WINDOW	   4			  /* bytes */
#define AHEAD	   (WINDOW * STEP + STEP) /* bytes that four windows cover */
#define PAIRS	   65536
#define CHAINS	   4096
#define GROUPS	   8  /* of prefixes: bits of a look-up */
#define UNKNOWN	   16 /* how common a byte is that no prefix decides */

/* Windows that a byte stands in that no prefix decides have a group of their own: they fit much
 * that is no prefix when those of others are among them. */
enum window_kind { KNOWN, FIRST_UNKNOWN, LAST_UNKNOWN, KINDS };
#define KNOWN_GROUPS (GROUPS - (KINDS - 1))

struct needle {
	char bytes[PREFIX_MAX];
	size_t len, row;
};

/* "needle's window, in lower case, begins at offset", -1 being the byte in front of it. */
struct place {
	uint32_t window;
	uint16_t needle;
	uint16_t next; /* index + 1; 0 ends */
	int offset;
};

struct prefixes {
	uint16_t pairs[PAIRS];	/* groups that have it first, and above them those that second */
	uint16_t heads[CHAINS]; /* index + 1 into places */
	struct place *places;
	size_t place_count;
	struct needle *needles;
	size_t needle_count;
	uint32_t masks[KINDS]; /* which bytes of such a window a needle decides */
};

/* --- one look --- */

static uint32_t window_at(const char *text)
{
	uint32_t window;

	memcpy(&window, text, sizeof(window));
	return window;
}

static unsigned pair_at(const char *text)
{
	uint16_t pair;

	memcpy(&pair, text, sizeof(pair));
	return pair;
}

/* Letters in either case alike. */
static uint32_t fold_window(uint32_t window, uint32_t mask)
{
	return (window | 0x20202020) & mask;
}

static size_t chain_of(uint32_t folded)
{
	const uint32_t spread = 2654435761U;

	return folded * spread >> 20;
}
_Static_assert(CHAINS == 1 << (32 - 20), "chain_of gives a number of a chain");

/* --- making it --- */

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 32) : c;
}

static bool is_any_case(const struct needle *needle)
{
	return shape_table[needle->row].flags & SHAPE_ANY_CASE;
}

static bool is_within(const struct needle *needle, int at)
{
	return at >= 0 && (size_t)at < needle->len;
}

/* How common a byte is where a prefix could be. */
static unsigned commonness(char c)
{
	if (strchr("etaoinsrhl -=", c))
		return 4;
	return (c >= 'a' && c <= 'z') || c == '_' ? 2 : 1;
}

/* The window of a needle in lower case, and which bytes of it the needle decides. */
static uint32_t read_window(const struct needle *needle, int offset, uint32_t *ret_mask)
{
	char bytes[WINDOW] = { 0 }, known[WINDOW] = { 0 };

	for (int at = 0; at < WINDOW; at++) {
		if (is_within(needle, offset + at)) {
			bytes[at] = needle->bytes[offset + at];
			known[at] = (char)0xFF;
		}
	}
	*ret_mask = window_at(known);
	return fold_window(window_at(bytes), *ret_mask);
}

/* Whether another needle has it already, so that it costs nothing more to look for it. */
static bool is_known(const struct prefixes *p, uint32_t folded)
{
	size_t next = p->heads[chain_of(folded)];

	while (next && p->places[next - 1].window != folded)
		next = p->places[next - 1].next;
	return next;
}

static int rarest_window(const struct prefixes *p, const struct needle *needle, int first)
{
	unsigned least = UINT32_MAX;
	int best = first;

	for (int at = first; at + WINDOW <= (int)needle->len; at += STEP) {
		uint32_t mask;
		const uint32_t folded = read_window(needle, at, &mask);
		unsigned sum = 0;

		for (int i = at; i < at + WINDOW; i++)
			sum += !is_within(needle, i) ? UNKNOWN :
			       is_any_case(needle)   ? commonness(fold(needle->bytes[i])) :
						       commonness(needle->bytes[i]);
		if (is_known(p, folded))
			sum /= 2;
		if (sum < least) {
			least = sum;
			best = at;
		}
	}
	return best;
}

/* The bytes that may stand at that place of a needle: how many. */
static unsigned list_bytes(const struct needle *needle, int at, char *ret)
{
	unsigned count = 0;

	if (!is_within(needle, at)) {
		for (unsigned c = 0; c < 256; c++)
			ret[count++] = (char)c;
		return count;
	}
	ret[count++] = needle->bytes[at];
	if (is_any_case(needle) && fold(needle->bytes[at]) >= 'a' && fold(needle->bytes[at]) <= 'z')
		ret[count++] = (char)(needle->bytes[at] ^ 32);
	return count;
}

static void add_pairs(struct prefixes *p, const struct needle *needle, int at, unsigned bits)
{
	char first[256], second[256];
	const unsigned firsts = list_bytes(needle, at, first);
	const unsigned seconds = list_bytes(needle, at + 1, second);

	for (unsigned i = 0; i < firsts; i++)
		for (unsigned j = 0; j < seconds; j++)
			p->pairs[pair_at((const char[]){ first[i], second[j] })] |= (uint16_t)bits;
}

static enum window_kind kind_of(const struct needle *needle, int offset)
{
	if (offset < 0)
		return FIRST_UNKNOWN;
	return is_within(needle, offset + WINDOW - 1) ? KNOWN : LAST_UNKNOWN;
}

/* A bit for each group that such a window may be of. */
static unsigned groups_of(enum window_kind kind)
{
	return kind == KNOWN ? (1U << KNOWN_GROUPS) - 1 : 1U << (GROUPS - (unsigned)kind);
}

static unsigned group_of(const struct needle *needle, int offset)
{
	const enum window_kind kind = kind_of(needle, offset);

	if (kind != KNOWN)
		return groups_of(kind);
	return 1U << (unsigned char)fold(needle->bytes[offset + WINDOW / 2]) % KNOWN_GROUPS;
}

static void add_window(struct prefixes *p, size_t n, int offset)
{
	const struct needle *needle = &p->needles[n];
	const unsigned group = group_of(needle, offset);
	uint32_t *mask = &p->masks[kind_of(needle, offset)];
	const uint32_t folded = read_window(needle, offset, mask);

	add_pairs(p, needle, offset, group);
	add_pairs(p, needle, offset + WINDOW / 2, group << GROUPS);
	p->places = mem_array(p->places, p->place_count + 1, sizeof(*p->places));
	p->places[p->place_count++] =
		(struct place){ folded, (uint16_t)n, p->heads[chain_of(folded)], offset };
	p->heads[chain_of(folded)] = (uint16_t)p->place_count;
}

static void add_needle(struct prefixes *p, size_t row, const char *bytes, size_t len)
{
	const size_t n = p->needle_count++;
	struct needle *needle;

	p->needles = mem_array(p->needles, p->needle_count, sizeof(*p->needles));
	needle = &p->needles[n];
	*needle = (struct needle){ .len = len, .row = row };
	memcpy(needle->bytes, bytes, len);
	add_window(p, n, rarest_window(p, needle, 0));
	add_window(p, n, rarest_window(p, needle, -1));
}

/* Adds every string that the rest of a prefix, at, stands for, behind done[0, len). */
static void add_prefixes(struct prefixes *p, size_t row, const char *at, char *done, size_t len)
{
	const char *close = *at == '[' ? strchr(at, ']') : NULL;
	const char *c = close ? at + 1 : at, *end = close ? close : at + 1;

	if (!*at || len == PREFIX_MAX) {
		add_needle(p, row, done, len);
		return;
	}
	while (c < end) {
		const bool range = end - c >= 3 && c[1] == '-';
		const char last = range ? c[2] : *c;

		for (char one = *c; one <= last; one++) {
			done[len] = one;
			add_prefixes(p, row, close ? close + 1 : at + 1, done, len + 1);
		}
		c += range ? 3 : 1;
	}
}

static struct prefixes made;

static void make_prefixes(void)
{
	char prefix[PREFIX_MAX];

	for (size_t row = 0; row < shape_count; row++)
		add_prefixes(&made, row, shape_table[row].prefix, prefix, 0);
}

static const struct prefixes *prefixes(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_prefixes);
	return &made;
}

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

struct search {
	const struct prefixes *known;
	const char *text;
	size_t len, compared;
	void (*hit)(void *self, size_t row, size_t start, size_t end);
	void *self;
};

static bool stands_at(const struct needle *needle, const char *text)
{
	return is_any_case(needle) ? !strncasecmp(text, needle->bytes, needle->len) :
				     !memcmp(text, needle->bytes, needle->len);
}

static void compare_needle(struct search *s, const struct place *place, size_t at)
{
	const struct needle *needle = &s->known->needles[place->needle];
	const size_t start = (size_t)((ptrdiff_t)at - place->offset);

	if (place->offset > 0 && at < (size_t)place->offset)
		return;
	if (start + needle->len <= s->len && stands_at(needle, s->text + start))
		s->hit(s->self, needle->row, start, start + needle->len);
}

/* Every needle of these groups whose window text[at, at + 4) may be. */
static void compare_at(struct search *s, size_t at, unsigned groups)
{
	const struct prefixes *p = s->known;
	const uint32_t window = window_at(s->text + at);

	for (enum window_kind kind = KNOWN; kind < KINDS; kind++) {
		const uint32_t folded = fold_window(window, p->masks[kind]);
		size_t next = groups & groups_of(kind) ? p->heads[chain_of(folded)] : 0;

		for (; next; next = p->places[next - 1].next, s->compared++)
			if (p->places[next - 1].window == folded)
				compare_needle(s, &p->places[next - 1], at);
	}
}

/* The groups of which a window may stand at text. */
static inline unsigned groups_at(const uint16_t *pairs, const char *text)
{
	return pairs[pair_at(text)] & pairs[pair_at(text + WINDOW / 2)] >> GROUPS;
}

size_t prefix_each(const char *text, size_t len,
		   void (*hit)(void *self, size_t row, size_t start, size_t end), void *self)
{
	struct search s = { prefixes(), text, len, 0, hit, self };
	const uint16_t *pairs = s.known->pairs;
	size_t at = 0;

	while (at + WINDOW <= len) {
		const char *p = text + at;
		const size_t count = len - at < AHEAD ? 1 : AHEAD / STEP - 1;

		if (count == 1 || groups_at(pairs, p) | groups_at(pairs, p + 2) |
					  groups_at(pairs, p + 4) | groups_at(pairs, p + 6))
			for (size_t i = 0; i < count; i++)
				if (groups_at(pairs, p + i * STEP))
					compare_at(&s, at + i * STEP,
						   groups_at(pairs, p + i * STEP));
		at += count * STEP;
	}
	return s.compared;
}
