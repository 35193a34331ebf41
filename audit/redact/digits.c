/*
 * Finds and decodes what a secret could hide in of digits. Four digits of base64 that begin at
 * the right place are three bytes, and plain ASCII only when three of their bits are 0, so that
 * of all alignments those that mean nothing are left without decoding them. Each byte of a text
 * is decoded at most once for every alignment (four of base64, two of hex), into one buffer that
 * is wiped.
 */
#include "audit/redact/digits.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define PAIRS	    65536
#define UNIT	    8 /* digits looked at together */
#define GROUP	    4 /* base64 digits, three bytes */
#define ALIGNMENTS  6 /* four of base64, then two of hex */
#define ALL_BASE64  0x0FU
#define ALL_HEX	    0x30U
#define SECOND	    8	 /* where the bits begin of a pair as the second of four digits */
#define PIECE	    4096 /* digits decoded at once */
#define VALUE	    16	 /* where its twelve bits begin */
#define RUN_MIN	    20	 /* base64 digits that are worth a look */
#define STRETCH_MIN 16	 /* of them in one alignment, for 12 bytes */
#define SURE	    64	 /* digits that are ASCII in no wrong alignment */
#define HEX_MIN	    24	 /* digits, for 12 bytes */
#define LOGIN_MIN   4	 /* bytes; "a:bc" */
#define NOT_ASCII   UINT64_C(0x8080808080808080)

/* The value of a digit, and one more: 0 is none. */
static const uint8_t base64_digits[256] = {
	['A'] = 1,  ['B'] = 2,	['C'] = 3,  ['D'] = 4,	['E'] = 5,  ['F'] = 6,	['G'] = 7,
	['H'] = 8,  ['I'] = 9,	['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
	['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
	['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
	['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
	['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
	['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
	['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
	['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63,
	['/'] = 64, ['-'] = 63, ['_'] = 64
};
static const uint8_t hex_digits[256] = {
	['0'] = 1,  ['1'] = 2,	['2'] = 3,  ['3'] = 4,	['4'] = 5,  ['5'] = 6,
	['6'] = 7,  ['7'] = 8,	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12,
	['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16, ['A'] = 11, ['B'] = 12,
	['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16
};

static unsigned base64_value(char c)
{
	return base64_digits[(unsigned char)c] - 1U;
}

bool digits_is_base64(char c)
{
	return base64_digits[(unsigned char)c];
}

unsigned digits_hex_value(char c)
{
	return hex_digits[(unsigned char)c] - 1U;
}

bool digits_is_hex(char c)
{
	return hex_digits[(unsigned char)c];
}

/* --- pairs of digits --- */

/*
 * Of each two bytes, for each alignment a bit: whether they may be the first half of four
 * digits that begin at a multiple of four, and from SECOND whether the second; from VALUE what
 * they are worth in base64. Made once, and kept.
 */
static uint32_t pairs[PAIRS];

static unsigned pair_at(const char *text)
{
	uint16_t pair;

	memcpy(&pair, text, sizeof(pair));
	return pair;
}

/* Whether a digit at that place of a group leaves its bytes ASCII. */
static bool is_ascii_at(char c, unsigned place)
{
	static const unsigned high_bits[GROUP] = { 0x20, 0x08, 0x02, 0 };

	return digits_is_base64(c) && !(base64_value(c) & high_bits[place]);
}

static bool is_ascii_hex_at(char c, unsigned place)
{
	return digits_is_hex(c) && (place || digits_hex_value(c) < 8);
}

/* Of two digits that stand behind `offset` others in a group of four: a bit per alignment. */
static uint32_t fitting(const char *two, unsigned offset)
{
	uint32_t bits = 0;

	for (unsigned i = 0; i < GROUP; i++)
		if (is_ascii_at(two[0], (offset - i) % GROUP) &&
		    is_ascii_at(two[1], (offset + 1 - i) % GROUP))
			bits |= 1U << i;
	for (unsigned i = 0; i < 2; i++)
		if (is_ascii_hex_at(two[0], (offset - i) % 2) &&
		    is_ascii_hex_at(two[1], (offset + 1 - i) % 2))
			bits |= 1U << (GROUP + i);
	return bits;
}

static void make_pairs(void)
{
	static const char all[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				  "0123456789+/-_";

	if (pairs[pair_at("AA")])
		return;
	for (const char *a = all; *a; a++) {
		for (const char *b = all; *b; b++) {
			const char two[] = { *a, *b };

			pairs[pair_at(two)] = fitting(two, 0) | fitting(two, 2) << SECOND |
					      (base64_value(*a) << 6 | base64_value(*b)) << VALUE;
		}
	}
}

/* --- decoding --- */

/* Whole bytes of base64 digits. */
static void decode_base64(const char *text, size_t len, struct buf *out)
{
	const size_t whole = len / GROUP * GROUP;
	char *to = buf_room(out, len);
	size_t n = 0;

	if (!to)
		return;
	for (size_t i = 0; i < whole; i += GROUP) {
		const uint32_t bits = (pairs[pair_at(text + i)] >> VALUE) << 12 |
				      pairs[pair_at(text + i + 2)] >> VALUE;

		to[n++] = (char)(bits >> 16);
		to[n++] = (char)(bits >> 8);
		to[n++] = (char)bits;
	}
	if (len - whole >= 2)
		to[n++] =
			(char)(base64_value(text[whole]) << 2 | base64_value(text[whole + 1]) >> 4);
	if (len - whole == 3)
		to[n++] = (char)(base64_value(text[whole + 1]) << 4 |
				 base64_value(text[whole + 2]) >> 2);
	buf_grew(out, n);
}

bool digits_is_login(const char *text, size_t len)
{
	cleanup_buf struct buf plain = BUF_INIT(BUF_MAX_DEFAULT);
	bool good;

	while (len && text[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++)
		if (!digits_is_base64(text[i]))
			return false;
	make_pairs();
	decode_base64(text, len, &plain);
	good = plain.len >= LOGIN_MIN && memchr(plain.data, ':', plain.len);
	for (size_t i = 0; i < plain.len && good; i++)
		good = (unsigned char)plain.data[i] >= ' ' && plain.data[i] != 0x7F;
	good = good && utf8_valid(plain.data, plain.len);
	explicit_bzero(plain.data, plain.len);
	return good;
}

/* --- stretches --- */

struct runs {
	const char *text;
	size_t len;
	size_t done[ALIGNMENTS]; /* what is before it was looked at */
	struct buf plain;
	view_see *see;
	void *self;
};

static void see_base64(struct runs *r, size_t start)
{
	r->see(r->self, &(struct view){ .kind = VIEW_BASE64,
					.text = r->plain.data,
					.len = r->plain.len,
					.origin = start,
					.digits = true });
	explicit_bzero(r->plain.data, r->plain.len);
}

static void see_hex(struct runs *r, size_t start, size_t end)
{
	buf_clear(&r->plain);
	for (size_t at = start; at < end; at += 2)
		buf_addch(&r->plain, (char)(digits_hex_value(r->text[at]) << 4 |
					    digits_hex_value(r->text[at + 1])));
	r->see(r->self, &(struct view){ .kind = VIEW_HEX,
					.text = r->plain.data,
					.len = r->plain.len,
					.origin = start,
					.digits = true });
	explicit_bzero(r->plain.data, r->plain.len);
}

static bool is_group(const struct runs *r, size_t at)
{
	return at + GROUP <= r->len &&
	       pairs[pair_at(r->text + at)] & pairs[pair_at(r->text + at + 2)] >> SECOND & 1;
}

/* Behind the digits of a group that the end of their run cut off; at, when there are none. */
static size_t rest_end(const struct runs *r, size_t at)
{
	size_t end = at;

	while (end < r->len && end - at < GROUP && digits_is_base64(r->text[end]))
		if (!is_ascii_at(r->text[end], (unsigned)(end - at)))
			return at;
		else
			end++;
	return end - at < GROUP ? end : at;
}

/* Whether so many digits stand together there. */
static bool is_long_run(const struct runs *r, size_t start, size_t end)
{
	while (start && end - start < RUN_MIN && digits_is_base64(r->text[start - 1]))
		start--;
	while (end < r->len && end - start < RUN_MIN && digits_is_base64(r->text[end]))
		end++;
	return end - start >= RUN_MIN;
}

/* Adds the groups from start on that are ASCII to plain; where they end. */
static size_t decode_groups(struct runs *r, size_t start)
{
	size_t at = start, piece_end;

	do {
		char *to = buf_room(&r->plain, PIECE);
		uint32_t four; /* three bytes, and one that the next group overwrites */
		size_t n = 0;

		for (piece_end = at + PIECE; at < piece_end && at + GROUP <= r->len; at += GROUP) {
			const uint32_t first = pairs[pair_at(r->text + at)];
			const uint32_t second = pairs[pair_at(r->text + at + 2)];
			const uint32_t bits = (first >> VALUE) << 12 | second >> VALUE;

			if (!(first & second >> SECOND & 1))
				break;
			four = htobe32(bits << 8);
			memcpy(to + n, &four, sizeof(four));
			n += 3;
		}
		buf_grew(&r->plain, n);
	} while (at == piece_end);
	return at;
}

/* The whole stretch about text + at that is ASCII in this alignment. */
static void see_base64_about(struct runs *r, size_t at, unsigned alignment)
{
	size_t start = at + alignment, end;

	while (start >= r->done[alignment] + GROUP && is_group(r, start - GROUP))
		start -= GROUP;
	buf_clear(&r->plain);
	end = decode_groups(r, start);
	r->done[alignment] = end > at + GROUP ? end : at + GROUP;
	decode_base64(r->text + end, rest_end(r, end) - end, &r->plain);
	end = rest_end(r, end);
	if (end - start >= STRETCH_MIN && is_long_run(r, start, end))
		see_base64(r, start);
}

static bool is_hex_byte(const struct runs *r, size_t at)
{
	return at + 2 <= r->len && is_ascii_hex_at(r->text[at], 0) &&
	       is_ascii_hex_at(r->text[at + 1], 1);
}

static void see_hex_about(struct runs *r, size_t at, unsigned alignment)
{
	size_t start = at + alignment - GROUP, end = start;

	while (start >= r->done[alignment] + 2 && is_hex_byte(r, start - 2))
		start -= 2;
	while (is_hex_byte(r, end))
		end += 2;
	r->done[alignment] = end > at + 2 ? end : at + 2;
	if (end - start >= HEX_MIN)
		see_hex(r, start, end);
}

/* Looks at what stands about text + at. Up to where that can be skipped: no digits are ASCII
 * for long in an alignment that is not theirs. */
static size_t see_about(struct runs *r, size_t at, unsigned alignments)
{
	size_t skip = at;

	for (; alignments; alignments &= alignments - 1) {
		const unsigned i = (unsigned)__builtin_ctz(alignments);

		if (i < GROUP && r->done[i] <= at)
			see_base64_about(r, at, i);
		else if (i >= GROUP && r->done[i] <= at)
			see_hex_about(r, at, i);
		if (r->done[i] > at + SURE && r->done[i] > skip)
			skip = r->done[i];
	}
	return skip;
}

/* The alignments that the second half, and the whole, of the unit before fitted. */
struct before {
	unsigned group, unit;
};

/* In which alignments a stretch could be that reaches into the UNIT bytes at text: three groups
 * of base64, two units of hex. */
static inline unsigned look_at(const char *text, struct before *b)
{
	const unsigned first = pairs[pair_at(text)] & pairs[pair_at(text + 2)] >> SECOND;
	const unsigned second = pairs[pair_at(text + 4)] & pairs[pair_at(text + 6)] >> SECOND;
	const unsigned unit = first & second;
	const unsigned found =
		(((b->unit & first) | (b->group & unit)) & ALL_BASE64) | (b->unit & unit & ALL_HEX);

	*b = (struct before){ second, unit };
	return found;
}

static inline bool is_ascii_unit(const char *text)
{
	uint64_t unit;

	memcpy(&unit, text, sizeof(unit));
	return !(unit & NOT_ASCII);
}

void digits_each(const char *text, size_t len, view_see *see, void *self)
{
	struct runs r = { .text = text, .len = len, .see = see, .self = self };
	struct before before = { 0 };
	char last[UNIT] = { 0 };

	if (len < RUN_MIN)
		return;
	make_pairs();
	buf_init(&r.plain, SIZE_MAX / 2);
	memcpy(last, text + len / UNIT * UNIT, len % UNIT);
	for (size_t at = 0; at < len; at += UNIT) {
		const char *unit = len - at < UNIT ? last : text + at;
		unsigned found;
		size_t skip;

		if (!is_ascii_unit(unit)) {
			before = (struct before){ 0 };
			continue;
		}
		found = look_at(unit, &before);
		if (!found)
			continue;
		skip = see_about(&r, at, found) / UNIT * UNIT;
		if (skip > at) {
			before = (struct before){ 0 };
			at = skip - UNIT;
		}
	}
	buf_release(&r.plain);
}
