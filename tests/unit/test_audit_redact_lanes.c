/*
 * What is looked at in many bytes at once finds what is found byte by byte: in each width that this
 * processor has, each byte in each place of a block, and each prefix of the table wherever it lies.
 */
#include "audit/redact/digits.h"
#include "audit/redact/lanes.h"
#include "audit/redact/prefix.h"
#include "audit/redact/shape.h"
#include "audit/redact/sieve.h"
#include "audit/redact/sieve_table.h"
#include "base/buf.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#define TEXT_LEN (LANES_BLOCK * 3 + LANES_BEHIND)

static const enum lanes_width widths[] = { LANES_PLAIN, LANES_WIDE, LANES_WIDEST };

static uint32_t random_next(uint32_t *seed)
{
	*seed = *seed * 1103515245U + 12345;
	return *seed >> 16;
}

static void test_classes(void **state)
{
	struct lanes_class class;
	uint32_t seed = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(class); i++)
		class.columns[i] = (uint8_t)random_next(&seed);
	for (unsigned round = 0; round < 2000; round++) {
		char text[3 * LANES_BLOCK];

		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = (char)random_next(&seed);
		for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
			uint64_t found[3];

			lanes_of(widths[w])->members(&class, text, 3, found);
			for (unsigned i = 0; i < 3 * LANES_BLOCK; i++) {
				const unsigned char c = (unsigned char)text[i];

				assert_int_equal(found[i / LANES_BLOCK] >> i % LANES_BLOCK & 1,
						 c < 128 && class.columns[c & 15] >> (c >> 4) & 1);
			}
		}
	}
}

static void test_pairs(void **state)
{
	static const struct lanes_pair pair = { 'a', { 'b', 'c' } };
	uint32_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		char text[200];
		const size_t len = random_next(&seed) % sizeof(text);
		const size_t from = len ? random_next(&seed) % (len + 1) : 0;
		const unsigned letters = 4 + round % 40;

		for (size_t i = 0; i < len; i++)
			text[i] = (char)('a' + random_next(&seed) % letters);
		for (size_t w = 1; w < ARRAY_SIZE(widths); w++)
			assert_int_equal(lanes_of(widths[w])->pair(text, len, from, &pair),
					 lanes_of(LANES_PLAIN)->pair(text, len, from, &pair));
	}
}

/* --- base64 --- */

static int value_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(c == '-' ? "+" : c == '_' ? "/" : digits, c) : NULL;

	if (c == '-' || c == '_')
		return c == '-' ? 62 : 63;
	return at ? (int)(at - digits) : -1;
}

/* Whether 32 digits are 24 bytes of ASCII, and which. */
static bool decode_slowly(const char *text, char *to)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < 32; i++) {
		if (value_of(text[i]) < 0)
			return false;
		bits = bits << 6 | (unsigned)value_of(text[i]);
		if (i % 4 < 3)
			continue;
		for (unsigned j = 0; j < 3; j++)
			to[i / 4 * 3 + j] = (char)(bits >> (16 - 8 * j));
		if (bits & 0x808080)
			return false;
		bits = 0;
	}
	return true;
}

static void test_decoding(void **state)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_";
	uint32_t seed = 7;

	(void)state;
	for (unsigned round = 0; round < 20000; round++) {
		char text[32], expected[32];

		/* Of each four digits those that are ASCII; then one is any byte. */
		for (unsigned i = 0; i < sizeof(text); i++) {
			static const int high[] = { 0x20, 0x08, 0x02, 0 };

			do
				text[i] = digits[random_next(&seed) % (sizeof(digits) - 1)];
			while (value_of(text[i]) & high[i % 4]);
		}
		if (round % 2)
			text[random_next(&seed) % 32] = (char)random_next(&seed);
		bool good = decode_slowly(text, expected);
		assert_true(good || round % 2);
		for (size_t w = 1; w < ARRAY_SIZE(widths); w++) {
			char got[64];
			const struct lanes *lanes = lanes_of(widths[w]);

			if (lanes == lanes_of(LANES_PLAIN))
				continue;
			assert_int_equal(lanes->decode(text, sizeof(text), got), good ? 32 : 0);
			if (good)
				assert_memory_equal(got, expected, 24);
		}
	}
}

/* --- prefixes --- */

/* One of the strings that a prefix stands for, chosen by seed. */
static size_t one_of(const struct shape *shape, uint32_t *seed, char *ret)
{
	size_t len = 0;

	for (const char *p = shape->prefix; *p; p++, len++) {
		const char *end = *p == '[' ? strchr(p, ']') : NULL;

		ret[len] = *p;
		if (end) {
			const char *c = p + 1 + random_next(seed) % (unsigned)(end - p - 1);

			/* Of a range its ends are enough. */
			ret[len] = *c == '-' && c > p + 1 ? c[1] : *c;
			p = end;
		}
		if (shape->flags & SHAPE_ANY_CASE && random_next(seed) % 2 &&
		    ((ret[len] | 32) >= 'a' && (ret[len] | 32) <= 'z'))
			ret[len] ^= 32;
	}
	return len;
}

static void test_sieve(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sieve_places); i++) {
		const struct sieve_place *place = &sieve_places[i];
		const struct shape *shape = &shape_table[place->row];

		for (size_t at = 0; at < LANES_BLOCK * 2; at += 1 + at % 7) {
			char text[TEXT_LEN], prefix[64];
			const size_t len = one_of(shape, &seed, prefix);

			for (size_t j = 0; j < sizeof(text); j++)
				text[j] = (char)random_next(&seed);
			memcpy(text + at, prefix + place->offset,
			       len - place->offset < SIEVE_WINDOW ? len - place->offset :
								    SIEVE_WINDOW);
			for (size_t w = 0; w < ARRAY_SIZE(widths); w++) {
				uint64_t passed[3];

				lanes_of(widths[w])->sieve(&sieve, text, 3, passed);
				if (!(passed[at / LANES_BLOCK] >> at % LANES_BLOCK & 1))
					fail_msg("%s at %zu, width %zu", shape->prefix, at, w);
			}
		}
	}
}

struct wanted {
	size_t row, start, end;
	unsigned found;
};

static void note_hit(void *self, size_t row, size_t start, size_t end)
{
	struct wanted *wanted = self;

	wanted->found += row == wanted->row && start == wanted->start && end == wanted->end;
}

/* Each prefix at the beginning, at the end, and across the ends of blocks. */
static void test_prefixes_anywhere(void **state)
{
	static const size_t lens[] = { 0, 1, 59, 64, 66, 67, 68, 128, 131, 4160, 4163, 4200 };
	uint32_t seed = 7;

	(void)state;
	for (size_t row = 0; row < shape_count; row++)
		for (size_t i = 0; i < ARRAY_SIZE(lens) * 4; i++) {
			cleanup_buf struct buf text = BUF_INIT(BUF_MAX_DEFAULT);
			char prefix[64];
			const size_t len = one_of(&shape_table[row], &seed, prefix);
			struct wanted wanted = { row, lens[i / 4], lens[i / 4] + len, 0 };

			while (text.len < wanted.start)
				buf_addch(&text, i % 2 ? ' ' : (char)random_next(&seed));
			buf_add(&text, prefix, len);
			while (i % 4 > 1 && text.len < wanted.end + 40)
				buf_addch(&text, '\xC3');
			prefix_each(text.data, text.len, note_hit, &wanted);
			if (wanted.found != 1)
				fail_msg("%.*s at %zu: found %u times", (int)len, prefix,
					 wanted.start, wanted.found);
		}
}

int main(void)
{
	const struct CMUnitTest audit_redact_lanes[] = {
		cmocka_unit_test(test_classes),		  cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_decoding),	  cmocka_unit_test(test_sieve),
		cmocka_unit_test(test_prefixes_anywhere),
	};

	return cmocka_run_group_tests(audit_redact_lanes, NULL, NULL);
}
