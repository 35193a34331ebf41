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

	if (!to)
		return;
	size_t n = 0;
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

	while (len && text[len - 1] == '=')
		len--;
	for (size_t i = 0; i < len; i++)
		if (!digits_is_base64(text[i]))
			return false;
	decode_base64(text, len, &plain);
	bool good = plain.len >= LOGIN_MIN && memchr(plain.data, ':', plain.len);
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

		piece = at;
		at += r->lanes->decode(r->text + at, left, to);
		size_t n = (at - piece) / GROUP * 3;
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
	size_t *done = &r->done[start % GROUP];

	while (start >= *done + GROUP && is_group(r, start - GROUP))
		start -= GROUP;
	buf_clear(&r->plain);
	size_t end = decode_groups(r, start);
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

/* Digits that leave bytes ASCII as the first, second and third of four, and all; those of hex as
 * the first of two, and all. */
static const struct lanes_class base64_classes[] = {
	{ { 0x20, 0x70, 0x70, 0x70, 0x70, 0x70, 0x70, 0x30, 0x30, 0x30, 0x30, 0x10, 0x10, 0x10,
	    0x10, 0x10 } },
	{ { 0x08, 0x38, 0x38, 0x38, 0x30, 0x30, 0x30, 0xF0, 0xF0, 0xC0, 0xC0, 0x40, 0x40, 0x40,
	    0x40, 0x00 } },
	{ { 0x88, 0x38, 0x30, 0xC0, 0xC8, 0x38, 0x30, 0xC0, 0xC8, 0x38, 0x30, 0x40, 0x40, 0x10,
	    0x10, 0x40 } },
	{ { 0xA8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF0, 0x54, 0x50, 0x54,
	    0x50, 0x74 } },
};
static const struct lanes_class hex_classes[] = {
	{ { 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	    0x00, 0x00 } },
	{ { 0x08, 0x58, 0x58, 0x58, 0x58, 0x58, 0x58, 0x08, 0x08, 0x08, 0x00, 0x00, 0x00, 0x00,
	    0x00, 0x00 } },
};

/* A bit for each byte of a block, and of what follows it. */
__extension__ typedef unsigned __int128 bits;

/* What is known of BLOCKS blocks and the one behind them; the last two once they are asked for:
 * where four digits of base64 or two of hex are ASCII. */
struct chunk {
	uint64_t digits[BLOCKS + 1];
	uint64_t groups[BLOCKS + 1];
	uint64_t pairs[BLOCKS + 1];
	bool read;
};

/* The bytes of a class, from at on; behind the text there are none. */
static void read_class(const struct runs *r, size_t at, const struct lanes_class *class,
		       uint64_t ret[BLOCKS + 1])
{
	const size_t whole = at < r->len ? (r->len - at) / BLOCK : 0;
	size_t blocks = whole > BLOCKS ? BLOCKS + 1 : whole;
	char last[BLOCK] = { 0 };

	r->lanes->members(class, r->text + at, blocks, ret);
	if (blocks > BLOCKS)
		return;
	at += blocks * BLOCK;
	if (at < r->len)
		memcpy(last, r->text + at, r->len - at);
	r->lanes->members(class, last, 1, ret + blocks);
	for (blocks++; blocks <= BLOCKS; blocks++)
		ret[blocks] = 0;
}

/* Where bytes are of the classes, one behind the other. */
static void read_classes(const struct runs *r, size_t at, const struct lanes_class *classes,
			 size_t count, uint64_t ret[BLOCKS + 1])
{
	read_class(r, at, classes, ret);
	for (size_t i = 1; i < count; i++) {
		uint64_t next[BLOCKS + 1];

		read_class(r, at + i, &classes[i], next);
		for (size_t block = 0; block <= BLOCKS; block++)
			ret[block] &= next[block];
	}
}

static bits both(const uint64_t two[2])
{
	return two[0] | (bits)two[1] << BLOCK;
}

/* Whether some byte of these bits is all set: it is in each run of 15 and more. */
static bool has_full_byte(uint64_t set)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	return (~set - ones) & set & ones << 7;
}

/* Whether a run of at least 16 digits begins in the first block, or goes on there. */
static bool has_run(const uint64_t digits[2])
{
	if (digits[0] == UINT64_MAX)
		return true;
	if (!has_full_byte(digits[0]) && !has_full_byte(digits[1]))
		return false;
	bits run = both(digits);
	run &= run >> 1;
	run &= run >> 2;
	run &= run >> 4;
	return (uint64_t)(run & run >> 8);
}
_Static_assert(STRETCH_MIN == 16 && HEX_MIN == 24, "base64_starts and hex_starts know them");

/* Where four groups of digits are ASCII, one behind the other. */
static uint64_t base64_starts(const uint64_t groups[2])
{
	bits four = both(groups);

	four &= four >> GROUP;
	four &= four >> 2 * GROUP;
	return (uint64_t)four;
}

/* Of pairs of one block: where four are, one behind the other. */
static uint64_t four_pairs(uint64_t pairs)
{
	pairs &= pairs >> 2;
	return pairs & pairs >> 4;
}

/* Where twelve bytes of hex are ASCII. Of those that begin in the first block, four are in one of
 * the two. */
static uint64_t hex_starts(const uint64_t pairs[2])
{
	if (!four_pairs(pairs[0]) && !four_pairs(pairs[1]))
		return 0;
	bits one = both(pairs);
	one &= one >> 2;
	bits four = one & one >> 4;
	return (uint64_t)(four & four >> 8 & four >> 16);
}

/* Looks at what begins in a block, of the chunk that begins at `from`. Up to where that can be
 * skipped: no digits are ASCII for long in an alignment that is not theirs. */
static size_t see_block(struct runs *r, struct chunk *chunk, size_t from, size_t block)
{
	const size_t at = from + block * BLOCK;
	size_t skip = at;

	if (!chunk->read) {
		read_classes(r, from, base64_classes, GROUP, chunk->groups);
		read_classes(r, from, hex_classes, 2, chunk->pairs);
		chunk->read = true;
	}
	uint64_t starts[2];
	starts[0] = base64_starts(chunk->groups + block);
	starts[1] = hex_starts(chunk->pairs + block);
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

void digits_each(const char *text, size_t len, view_see *see, void *self)
{
	struct runs r = {
		.lanes = lanes_of(LANES_WIDEST), .text = text, .len = len, .see = see, .self = self
	};

	if (len < RUN_MIN)
		return;
	buf_init(&r.plain, SIZE_MAX / 2);
	size_t skip = 0;
	for (size_t at = 0; at<len; at = skip> at + BLOCKS * BLOCK ? skip : at + BLOCKS * BLOCK) {
		struct chunk chunk;

		read_class(&r, at, &base64_classes[GROUP - 1], chunk.digits);
		chunk.read = false;
		for (size_t i = 0; i < BLOCKS; i++)
			if (at + i * BLOCK >= skip && has_run(chunk.digits + i))
				skip = see_block(&r, &chunk, at, i) / BLOCK * BLOCK;
	}
	buf_release(&r.plain);
}
