/*
 * Finds and decodes what a secret could hide in of digits. Four digits of base64 that begin at
 * the right place are three bytes, and plain ASCII only when three of their bits are 0, so that
 * of all alignments those that mean nothing are left without decoding them: a bit for each byte
 * of a block says what it can be, and four groups in a row are a start. Each byte of a text is
 * decoded at most once for every alignment (four of base64, two of hex), into one buffer that is
 * wiped.
 */
#include "audit/redact/digits.h"

#include "audit/redact/lanes.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

#define BLOCK	    LANES_BLOCK
#define BLOCKS	    64	 /* looked at together */
#define GROUP	    4	 /* base64 digits, three bytes */
#define ALIGNMENTS  6	 /* four of base64, then two of hex */
#define PIECE	    4096 /* digits decoded at once */
#define RUN_MIN	    20	 /* base64 digits that are worth a look */
#define STRETCH_MIN 16	 /* of them in one alignment, for 12 bytes */
#define SURE	    64	 /* digits that are ASCII in no wrong alignment */
#define HEX_MIN	    24	 /* digits, for 12 bytes */
#define LOGIN_MIN   4	 /* bytes; "a:bc" */

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

/* --- decoding --- */

/* What four digits are worth, and above it what is set when one is none. */
#define NO_DIGIT UINT32_C(0xFF000000)
static uint32_t decode_group(const char *text)
{
	const unsigned a = base64_value(text[0]), b = base64_value(text[1]);
	const unsigned c = base64_value(text[2]), d = base64_value(text[3]);

	return ((a | b | c | d) & ~63U ? NO_DIGIT : 0) | (a & 63) << 18 | (b & 63) << 12 |
	       (c & 63) << 6 | (d & 63);
}

static size_t put_group(char *to, size_t n, uint32_t bits)
{
	to[n] = (char)(bits >> 16);
	to[n + 1] = (char)(bits >> 8);
	to[n + 2] = (char)bits;
	return n + 3;
}

/* Whole bytes of base64 digits. */
static void decode_base64(const char *text, size_t len, struct buf *out)
{
	const size_t whole = len / GROUP * GROUP;
	char *to = buf_room(out, len);
	size_t n = 0;

	if (!to)
		return;
	for (size_t i = 0; i < whole; i += GROUP)
		n = put_group(to, n, decode_group(text + i));
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
	const struct lanes *lanes;
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

/* Of four digits that are ASCII. */
static bool is_group(const struct runs *r, size_t at)
{
	return at + GROUP <= r->len && !(decode_group(r->text + at) & (NO_DIGIT | 0x808080));
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
	size_t at = start, piece;

	do {
		const size_t left = r->len - at < PIECE ? r->len - at : PIECE;
		char *to = buf_room(&r->plain, PIECE);
		size_t n;

		piece = at;
		at += r->lanes->decode(r->text + at, left, to);
		n = (at - piece) / GROUP * 3;
		for (; at < piece + PIECE && is_group(r, at); at += GROUP)
			n = put_group(to, n, decode_group(r->text + at));
		buf_grew(&r->plain, n);
	} while (at == piece + PIECE);
	return at;
}

/* The whole stretch about start, where a group is, that is ASCII in its alignment. */
static void see_base64_about(struct runs *r, size_t start)
{
	const size_t found = start;
	size_t *done = &r->done[start % GROUP], end;

	while (start >= *done + GROUP && is_group(r, start - GROUP))
		start -= GROUP;
	buf_clear(&r->plain);
	end = decode_groups(r, start);
	*done = end > found + GROUP ? end : found + GROUP;
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

static void see_hex_about(struct runs *r, size_t start)
{
	const size_t found = start;
	size_t *done = &r->done[GROUP + start % 2], end = start;

	while (start >= *done + 2 && is_hex_byte(r, start - 2))
		start -= 2;
	while (is_hex_byte(r, end))
		end += 2;
	*done = end > found + 2 ? end : found + 2;
	if (end - start >= HEX_MIN)
		see_hex(r, start, end);
}

/* --- where to look --- */

/* Digits; those that leave bytes ASCII as the first, second and third of four; of hex, those as
 * the first of two, and all. */
enum kind { DIGIT, FIRST, SECOND, THIRD, HEX_DIGIT, HEX_FIRST, KINDS };
static const struct lanes_class classes[KINDS] = {
	[DIGIT] = { { 0xA8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF0, 0x54, 0x50,
		      0x54, 0x50, 0x74 } },
	[FIRST] = { { 0x20, 0x70, 0x70, 0x70, 0x70, 0x70, 0x70, 0x30, 0x30, 0x30, 0x30, 0x10, 0x10,
		      0x10, 0x10, 0x10 } },
	[SECOND] = { { 0x08, 0x38, 0x38, 0x38, 0x30, 0x30, 0x30, 0xF0, 0xF0, 0xC0, 0xC0, 0x40, 0x40,
		       0x40, 0x40, 0x00 } },
	[THIRD] = { { 0x88, 0x38, 0x30, 0xC0, 0xC8, 0x38, 0x30, 0xC0, 0xC8, 0x38, 0x30, 0x40, 0x40,
		      0x10, 0x10, 0x40 } },
	[HEX_DIGIT] = { { 0x08, 0x58, 0x58, 0x58, 0x58, 0x58, 0x58, 0x08, 0x08, 0x08, 0x00, 0x00,
			  0x00, 0x00, 0x00, 0x00 } },
	[HEX_FIRST] = { { 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00,
			  0x00, 0x00, 0x00, 0x00 } },
};

/* A bit for each byte of a block, and of what follows it. */
__extension__ typedef unsigned __int128 bits;

struct block {
	uint64_t of[KINDS];
	enum kind known; /* those before it are */
};

struct next {
	struct block block;
	size_t at;
};

/* The kinds before `to`; behind the text there are none. */
static void read_kinds(const struct runs *r, size_t at, enum kind to, struct block *block)
{
	char last[BLOCK] = { 0 };

	if (block->known >= to)
		return;
	if (at + BLOCK > r->len && at < r->len)
		memcpy(last, r->text + at, r->len - at);
	r->lanes->classes(&classes[block->known], to - block->known,
			  at + BLOCK > r->len ? last : r->text + at, &block->of[block->known]);
	block->known = to;
}

static bits both(const struct block two[2], enum kind kind)
{
	return two[0].of[kind] | (bits)two[1].of[kind] << BLOCK;
}

/* Whether some byte of these bits is all set: it is in each run of 15 and more. */
static bool has_full_byte(uint64_t set)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	return (~set - ones) & set & ones << 7;
}

static bool may_run(const struct block two[2], enum kind kind)
{
	return has_full_byte(two[0].of[kind]) || has_full_byte(two[1].of[kind]);
}

/* Whether a run of at least 16 digits begins in the first block, or goes on there. */
static bool has_run(const struct block two[2])
{
	bits run;

	if (!may_run(two, DIGIT))
		return false;
	run = both(two, DIGIT);
	run &= run >> 1;
	run &= run >> 2;
	run &= run >> 4;
	return (uint64_t)(run & run >> 8);
}
_Static_assert(STRETCH_MIN == 16 && HEX_MIN == 24, "base64_starts and hex_starts know them");

/* Where four groups of digits are ASCII, one behind the other. */
static uint64_t base64_starts(const struct block two[2])
{
	bits groups = both(two, FIRST) & both(two, SECOND) >> 1 & both(two, THIRD) >> 2 &
		      both(two, DIGIT) >> 3;

	groups &= groups >> GROUP;
	groups &= groups >> 2 * GROUP;
	return (uint64_t)groups;
}

/* The same of twelve bytes of hex. */
static uint64_t hex_starts(const struct block two[2])
{
	bits one, four;

	if (!may_run(two, HEX_DIGIT))
		return 0;
	one = both(two, HEX_FIRST) & both(two, HEX_DIGIT) >> 1;
	one &= one >> 2;
	four = one & one >> 4;
	return (uint64_t)(four & four >> 8 & four >> 16);
}

/* Looks at what begins in a block. Up to where that can be skipped: no digits are ASCII for long
 * in an alignment that is not theirs. */
static size_t see_starts(struct runs *r, size_t at, const struct block two[2])
{
	uint64_t starts[2] = { base64_starts(two), hex_starts(two) };
	size_t skip = at;

	for (int hex = 0; hex < 2; hex++) {
		for (; starts[hex]; starts[hex] &= starts[hex] - 1) {
			const size_t start = at + (size_t)__builtin_ctzll(starts[hex]);
			const size_t *done = &r->done[hex ? GROUP + start % 2 : start % GROUP];

			if (start < *done || start < skip)
				continue;
			(hex ? see_hex_about : see_base64_about)(r, start);
			if (*done > start + SURE)
				skip = *done;
		}
	}
	return skip;
}

/* What begins in a block that may have a run; up to where that can be skipped. next: what is
 * known of the block behind the last that was looked at. */
static size_t see_block(struct runs *r, size_t at, const uint64_t digits[2], struct next *next)
{
	struct block two[2] = { { .of = { digits[0] }, .known = FIRST },
				{ .of = { digits[1] }, .known = FIRST } };

	if (!has_run(two))
		return at;
	if (next->at == at)
		two[0] = next->block;
	read_kinds(r, at, KINDS, &two[0]);
	read_kinds(r, at + BLOCK, KINDS, &two[1]);
	*next = (struct next){ two[1], at + BLOCK };
	return see_starts(r, at, two);
}

/* Which bytes of blocks from at on are digits, of one more than there is room for steps. */
static void read_digits(const struct runs *r, size_t at, uint64_t digits[BLOCKS + 1])
{
	const size_t whole = (r->len - at) / BLOCK, blocks = whole > BLOCKS ? BLOCKS + 1 : whole;
	struct block last = { .known = DIGIT };

	r->lanes->members(&classes[DIGIT], r->text + at, blocks, digits);
	if (blocks > BLOCKS)
		return;
	read_kinds(r, at + blocks * BLOCK, FIRST, &last);
	digits[blocks] = last.of[DIGIT];
	memset(digits + blocks + 1, 0, (BLOCKS - blocks) * sizeof(*digits));
}

void digits_each(const char *text, size_t len, view_see *see, void *self)
{
	struct runs r = {
		.lanes = lanes_of(LANES_WIDEST), .text = text, .len = len, .see = see, .self = self
	};
	struct next next = { .at = SIZE_MAX };
	uint64_t digits[BLOCKS + 1];
	size_t skip = 0;

	if (len < RUN_MIN)
		return;
	buf_init(&r.plain, SIZE_MAX / 2);
	for (size_t at = 0; at<len; at = skip> at + BLOCKS * BLOCK ? skip : at + BLOCKS * BLOCK) {
		read_digits(&r, at, digits);
		for (size_t i = 0; i < BLOCKS; i++)
			if (at + i * BLOCK >= skip &&
			    (has_full_byte(digits[i]) || has_full_byte(digits[i + 1])))
				skip = see_block(&r, at + i * BLOCK, digits + i, &next) / BLOCK *
				       BLOCK;
	}
	buf_release(&r.plain);
}
