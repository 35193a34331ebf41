/*
 * How long deflated data becomes (RFC 1951), without keeping it: what a PNG's size is checked
 * with. It writes nowhere and ends at the ceiling it is given.
 */
#include "verifier/check/inflate.h"

#include <stdbool.h>
#include <string.h>

#define BITS_MAX  15
#define LITERALS  288
#define DISTANCES 30

struct stream {
	const unsigned char *data;
	size_t len, at;
	unsigned long bits; /* read, not used */
	int count;	    /* of them */
	bool failed;	    /* the end came too soon */
	int64_t made, max;
};

/* A canonical code: how many symbols have each length, and those in order. */
struct code {
	short count[BITS_MAX + 1];
	short symbol[LITERALS];
};

static int take(struct stream *s, int need)
{
	while (s->count < need) {
		if (s->at == s->len) {
			s->failed = true;
			return 0;
		}
		s->bits |= (unsigned long)s->data[s->at++] << s->count;
		s->count += 8;
	}
	int value = (int)(s->bits & ((1UL << need) - 1));
	s->bits >>= need;
	s->count -= need;
	return value;
}

/* The next symbol, -1 when no code is like that. */
static int decode(struct stream *s, const struct code *c)
{
	int value = 0, first = 0, index = 0;

	for (int n = 1; n <= BITS_MAX && !s->failed; n++) {
		value |= take(s, 1);
		if (value - c->count[n] < first)
			return c->symbol[index + (value - first)];
		index += c->count[n];
		first = (first + c->count[n]) << 1;
		value <<= 1;
	}
	return -1;
}

/* False when the lengths claim more codes than there are. */
static bool build(struct code *c, const short *lengths, int n)
{
	memset(c, 0, sizeof(*c));
	for (int i = 0; i < n; i++)
		c->count[lengths[i]]++;
	c->count[0] = 0;
	int left = 1;
	for (int i = 1; i <= BITS_MAX; i++) {
		left = left * 2 - c->count[i];
		if (left < 0)
			return false;
	}
	short offsets[BITS_MAX + 1];
	offsets[1] = 0;
	for (int i = 1; i < BITS_MAX; i++)
		offsets[i + 1] = (short)(offsets[i] + c->count[i]);
	for (int i = 0; i < n; i++)
		if (lengths[i])
			c->symbol[offsets[lengths[i]]++] = (short)i;
	return true;
}

/* The codes of one block until its end; false when it is malformed. */
static bool read_codes(struct stream *s, const struct code *literals, const struct code *distances)
{
	static const short base[29] = { 3,  4,	5,  6,	 7,   8,   9,	10,  11, 13,
					15, 17, 19, 23,	 27,  31,  35,	43,  51, 59,
					67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const short extra[29] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	static const short far[DISTANCES] = { 1,    2,	  3,	4,     5,     7,    9,	  13,
					      17,   25,	  33,	49,    65,    97,   129,  193,
					      257,  385,  513,	769,   1025,  1537, 2049, 3073,
					      4097, 6145, 8193, 12289, 16385, 24577 };

	while (s->made <= s->max) {
		int symbol = decode(s, literals);
		if (s->failed || symbol < 0)
			return false;
		if (symbol <= 256) {
			if (symbol == 256)
				return true;
			s->made++;
			continue;
		}
		if (symbol - 257 >= 29)
			return false;
		int length = base[symbol - 257] + take(s, extra[symbol - 257]);
		symbol = decode(s, distances);
		if (s->failed || symbol < 0 || symbol >= DISTANCES)
			return false;
		int distance = far[symbol] + take(s, symbol < 4 ? 0 : symbol / 2 - 1);
		if (s->failed || distance > s->made)
			return false;
		s->made += length;
	}
	return true;
}

static bool read_stored(struct stream *s)
{
	s->bits = 0; /* the rest of the byte */
	s->count = 0;
	if (s->len - s->at < 4)
		return false;
	size_t n = (size_t)s->data[s->at] | (size_t)s->data[s->at + 1] << 8;
	if ((n ^ 0xffff) != ((size_t)s->data[s->at + 2] | (size_t)s->data[s->at + 3] << 8))
		return false;
	s->at += 4;
	if (s->len - s->at < n)
		return false;
	s->at += n;
	s->made += (int64_t)n;
	return true;
}

static bool read_fixed(struct stream *s)
{
	short lengths[LITERALS];

	for (int i = 0; i < LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	struct code literals;
	build(&literals, lengths, LITERALS);
	for (int i = 0; i < DISTANCES; i++)
		lengths[i] = 5;
	struct code distances;
	build(&distances, lengths, DISTANCES);
	return read_codes(s, &literals, &distances);
}

/* The lengths of both codes, themselves coded and run-length packed. */
static bool read_lengths(struct stream *s, const struct code *c, short *lengths, int total)
{
	int at = 0;

	while (at < total) {
		int symbol = decode(s, c);
		if (s->failed || symbol < 0)
			return false;
		if (symbol < 16) {
			lengths[at++] = (short)symbol;
			continue;
		}
		if (symbol == 16 && !at)
			return false;
		short value = symbol == 16 ? lengths[at - 1] : 0;
		int repeat = symbol == 16 ? 3 + take(s, 2) :
			     symbol == 17 ? 3 + take(s, 3) :
					    11 + take(s, 7);
		if (s->failed || at + repeat > total)
			return false;
		while (repeat--)
			lengths[at++] = value;
	}
	return lengths[256] != 0;
}

static bool read_dynamic(struct stream *s)
{
	static const char order[19] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					11, 4,	12, 3, 13, 2, 14, 1, 15 };
	short lengths[LITERALS + 32] = { 0 };
	int n = take(s, 5) + 257, m = take(s, 5) + 1, k = take(s, 4) + 4;

	if (s->failed || n > 286 || m > DISTANCES)
		return false;
	for (int i = 0; i < k; i++)
		lengths[(int)order[i]] = (short)take(s, 3);
	struct code literals;
	if (s->failed || !build(&literals, lengths, 19))
		return false;
	memset(lengths, 0, sizeof(lengths));
	struct code distances;
	return read_lengths(s, &literals, lengths, n + m) && build(&literals, lengths, n) &&
	       build(&distances, lengths + n, m) && read_codes(s, &literals, &distances);
}

int64_t inflate_length(const unsigned char *data, size_t len, int64_t max)
{
	struct stream s = { .data = data, .len = len, .at = 2, .max = max };

	if (len < 2 || (data[0] & 15) != 8 || (data[0] * 256 + data[1]) % 31 || (data[1] & 32))
		return -1;
	bool last = false, good = true;
	while (good && !last && s.made <= max) {
		last = take(&s, 1);
		switch (take(&s, 2)) {
		case 0:
			good = !s.failed && read_stored(&s);
			break;
		case 1:
			good = read_fixed(&s);
			break;
		case 2:
			good = read_dynamic(&s);
			break;
		default:
			good = false;
			break;
		}
	}
	if (!good || s.failed)
		return -1;
	return s.made > max ? max + 1 : s.made;
}
