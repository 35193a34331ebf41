/*
 * Unpacking gzip (gunzip.h): DEFLATE (RFC 1951) read bit by bit out of bytes that anybody may have
 * sent. Nothing is read beyond them and nothing written beyond the ceiling of the buffer.
 */
#include "base/gunzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BITS_MAX  15
#define LITERALS  288
#define DISTANCES 30
#define WINDOW	  32768

struct reader {
	const uint8_t *at, *end;
	uint32_t bits;
	unsigned count; /* of bits */
	bool over;	/* more was wanted than there is */
	struct buf *out;
	size_t begun; /* of out: what is copied lies behind it */
};

static unsigned take(struct reader *r, unsigned n)
{
	unsigned value;

	while (r->count < n) {
		if (r->at == r->end) {
			r->over = true;
			return 0;
		}
		r->bits |= (uint32_t)*r->at++ << r->count;
		r->count += 8;
	}
	value = r->bits & ((1U << n) - 1);
	r->bits >>= n;
	r->count -= n;
	return value;
}

/* --- codes --- */

/* Canonical ones: how many there are of each length, and their symbols in order. */
struct codes {
	uint16_t count[BITS_MAX + 1];
	uint16_t symbols[LITERALS];
};

/* False: no set of codes has such lengths. One that is not complete is none but for a single code. */
static bool codes_make(struct codes *c, const uint8_t *lengths, size_t n)
{
	uint16_t at[BITS_MAX + 1] = { 0 };
	int left = 1;

	memset(c->count, 0, sizeof(c->count));
	for (size_t i = 0; i < n; i++)
		c->count[lengths[i]]++;
	for (unsigned len = 1; len <= BITS_MAX; len++) {
		left = left * 2 - c->count[len];
		if (left < 0)
			return false;
	}
	for (unsigned len = 1; len < BITS_MAX; len++)
		at[len + 1] = (uint16_t)(at[len] + c->count[len]);
	for (size_t i = 0; i < n; i++)
		if (lengths[i])
			c->symbols[at[lengths[i]]++] = (uint16_t)i;
	return !left || n - c->count[0] <= 1;
}

/* The symbol of the next code; -1: there is none. */
static int next_symbol(struct reader *r, const struct codes *c)
{
	int code = 0, first = 0, index = 0;

	for (unsigned len = 1; len <= BITS_MAX && !r->over; len++) {
		int count = c->count[len];

		code |= (int)take(r, 1);
		if (code - count < first)
			return c->symbols[index + (code - first)];
		index += count;
		first = (first + count) * 2;
		code *= 2;
	}
	return -1;
}

/* --- blocks --- */

static const char *const broken = "the gzip file is broken";

static bool put(struct reader *r, char byte)
{
	return buf_add(r->out, &byte, 1) == 0;
}

static bool copy(struct reader *r, size_t distance, size_t len)
{
	if (distance > r->out->len - r->begun || distance > WINDOW)
		return false;
	while (len--)
		if (!put(r, r->out->data[r->out->len - distance]))
			return false;
	return true;
}

static bool take_length(struct reader *r, int symbol, size_t *ret)
{
	static const uint16_t base[] = { 3,  4,	 5,  6,	 7,  8,	 9,  10, 11,  13,  15,	17,  19,  23, 27,
					 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
	static const uint8_t more[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
					2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0 };
	unsigned i = (unsigned)symbol - 257;

	if (i >= sizeof(more))
		return false;
	*ret = base[i] + take(r, more[i]);
	return true;
}

static bool take_distance(struct reader *r, int symbol, size_t *ret)
{
	unsigned i = (unsigned)symbol, more = i < 4 ? 0 : i / 2 - 1;

	if (symbol < 0 || i >= DISTANCES)
		return false;
	*ret = (i < 4 ? i : (size_t)(2 + i % 2) << more) + 1 + take(r, more);
	return true;
}

static bool take_coded(struct reader *r, const struct codes *literals,
		       const struct codes *distances)
{
	for (;;) {
		int symbol = next_symbol(r, literals);
		size_t len, distance;

		if (symbol < 0 || r->over)
			return false;
		if (symbol == 256)
			return true;
		if (symbol < 256) {
			if (!put(r, (char)symbol))
				return false;
			continue;
		}
		if (!take_length(r, symbol, &len) ||
		    !take_distance(r, next_symbol(r, distances), &distance) || r->over ||
		    !copy(r, distance, len))
			return false;
	}
}

static bool take_stored(struct reader *r)
{
	size_t len;

	r->bits = r->count = 0;
	if (r->end - r->at < 4)
		return false;
	len = r->at[0] | (size_t)r->at[1] << 8;
	if (len != (size_t)(~(r->at[2] | (unsigned)r->at[3] << 8) & 0xffff))
		return false;
	r->at += 4;
	if ((size_t)(r->end - r->at) < len || buf_add(r->out, r->at, len) < 0)
		return false;
	r->at += len;
	return true;
}

static bool take_fixed(struct reader *r)
{
	uint8_t lengths[LITERALS];
	struct codes literals, distances;

	memset(lengths, 8, LITERALS);
	memset(lengths + 144, 9, 256 - 144);
	memset(lengths + 256, 7, 280 - 256);
	codes_make(&literals, lengths, LITERALS);
	memset(lengths, 5, DISTANCES);
	codes_make(&distances, lengths, DISTANCES);
	return take_coded(r, &literals, &distances);
}

/* The lengths of both kinds of codes, themselves coded. */
static bool take_lengths(struct reader *r, const struct codes *c, uint8_t *lengths, size_t n)
{
	size_t i = 0;

	while (i < n) {
		int symbol = next_symbol(r, c);
		uint8_t again = 0;
		size_t times;

		if (symbol < 0 || r->over)
			return false;
		if (symbol < 16) {
			lengths[i++] = (uint8_t)symbol;
			continue;
		}
		if (symbol == 16 && !i)
			return false;
		again = symbol == 16 ? lengths[i - 1] : 0;
		times = symbol == 16 ? 3 + take(r, 2) :
			symbol == 17 ? 3 + take(r, 3) :
				       11 + take(r, 7);
		if (times > n - i)
			return false;
		memset(lengths + i, again, times);
		i += times;
	}
	return !r->over;
}

static bool take_dynamic(struct reader *r)
{
	static const uint8_t order[] = { 16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
					 11, 4,	 12, 3, 13, 2, 14, 1, 15 };
	size_t literal_count = take(r, 5) + 257, distance_count = take(r, 5) + 1;
	size_t count = take(r, 4) + 4;
	uint8_t lengths[LITERALS + 32] = { 0 };
	struct codes literals, distances;

	if (literal_count > LITERALS - 2 || distance_count > DISTANCES)
		return false;
	for (size_t i = 0; i < count; i++)
		lengths[order[i]] = (uint8_t)take(r, 3);
	if (r->over || !codes_make(&literals, lengths, sizeof(order)))
		return false;
	memset(lengths, 0, sizeof(order));
	if (!take_lengths(r, &literals, lengths, literal_count + distance_count) ||
	    !lengths[256] || !codes_make(&literals, lengths, literal_count) ||
	    !codes_make(&distances, lengths + literal_count, distance_count))
		return false;
	return take_coded(r, &literals, &distances);
}

static bool inflate(struct reader *r)
{
	bool last = false, good = true;

	while (good && !last) {
		unsigned kind;

		last = take(r, 1);
		kind = take(r, 2);
		good = !r->over && (kind == 0 ? take_stored(r) :
				    kind == 1 ? take_fixed(r) :
				    kind == 2 ? take_dynamic(r) :
						false);
	}
	return good;
}

/* --- the file --- */

static uint32_t check_of(const char *bytes, size_t len)
{
	uint32_t crc = 0xffffffff, table[256];

	for (uint32_t n = 0; n < 256; n++) {
		table[n] = n;
		for (int k = 0; k < 8; k++)
			table[n] = table[n] & 1 ? 0xedb88320 ^ table[n] >> 1 : table[n] >> 1;
	}
	for (size_t i = 0; i < len; i++)
		crc = table[(crc ^ (uint8_t)bytes[i]) & 0xff] ^ crc >> 8;
	return ~crc;
}

static uint32_t number(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Past a text that ends with a NUL. */
static const uint8_t *skip_text(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *nul = at < end ? memchr(at, 0, (size_t)(end - at)) : NULL;

	return nul ? nul + 1 : end;
}

/* Behind the head of a member; NULL: there is none. */
static const uint8_t *skip_head(const uint8_t *at, const uint8_t *end)
{
	unsigned flags;

	if (end - at < 10 || at[0] != 0x1f || at[1] != 0x8b || at[2] != 8)
		return NULL;
	flags = at[3];
	at += 10;
	if (flags & 4) {
		size_t len = end - at < 2 ? 0 : at[0] | (size_t)at[1] << 8;

		if (end - at < 2 || (size_t)(end - at) - 2 < len)
			return NULL;
		at += 2 + len;
	}
	if (flags & 8)
		at = skip_text(at, end);
	if (flags & 16)
		at = skip_text(at, end);
	if (flags & 2)
		at = end - at < 2 ? end : at + 2;
	return at < end ? at : NULL;
}

int gunzip(const void *bytes, size_t len, struct buf *out, struct error *err)
{
	const uint8_t *at = bytes, *end = at + len;

	if (!len)
		return error_set(err, ERR_USAGE, "%s", broken);
	while (at < end) {
		struct reader r = { .end = end, .out = out, .begun = out->len };

		r.at = skip_head(at, end);
		if (!r.at || !inflate(&r) || end - r.at < 8)
			return out->overflow ?
				       error_set(err, ERR_BUDGET,
						 "the gzip file unpacks to more than is taken") :
				       error_set(err, ERR_USAGE, "%s", broken);
		if (number(r.at) != check_of(out->len > r.begun ? out->data + r.begun : "",
					     out->len - r.begun) ||
		    number(r.at + 4) != (uint32_t)(out->len - r.begun))
			return error_set(err, ERR_USAGE, "%s: its check differs", broken);
		at = r.at + 8;
	}
	return 0;
}
