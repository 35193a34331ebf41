/*
 * Nothing but speed: each function has a plain form that says what it does, and one of AVX2 that
 * does the same. It knows neither secrets nor encodings' rules beyond the digits of base64, and
 * reads no byte that its header does not name.
 */
#include "audit/redact/lanes.h"

#include <stdbool.h>
#include <string.h>

/* --- plain --- */

/* What passes the sieve is compared anyway: without help, everything is. */
static void plain_sieve(const struct sieve *sieve, const char *text, size_t blocks, uint64_t *ret)
{
	(void)sieve;
	(void)text;
	memset(ret, 0xFF, blocks * sizeof(*ret));
}

static bool has(const struct lanes_class *class, unsigned char c)
{
	return c < 128 && class->columns[c & 15] >> (c >> 4) & 1;
}

static void plain_members(const struct lanes_class *class, const char *text, size_t blocks,
			  uint64_t *ret)
{
	for (; blocks; blocks--, text += LANES_BLOCK, ret++) {
		*ret = 0;
		for (unsigned i = 0; i < LANES_BLOCK; i++)
			*ret |= (uint64_t)has(class, (unsigned char)text[i]) << i;
	}
}

static size_t plain_pair(const char *text, size_t len, size_t at, const struct lanes_pair *pair)
{
	for (; at + 1 < len; at++)
		if (text[at] == pair->first &&
		    (text[at + 1] == pair->second[0] || text[at + 1] == pair->second[1]))
			return at;
	return len;
}

static size_t plain_decode(const char *text, size_t len, char *to)
{
	(void)text;
	(void)len;
	(void)to;
	return 0;
}

static const struct lanes plain = { plain_sieve, plain_members, plain_pair, plain_decode };

#ifdef __x86_64__
#include <immintrin.h>

#define WIDE  __attribute__((target("avx2")))
#define BYTES 32 /* of a register */

WIDE static inline __m256i load(const char *text)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)text);
}

WIDE static inline __m128i load_half(const uint8_t table[16])
{
	return _mm_loadu_si128((const __m128i *)(const void *)table);
}

WIDE static inline __m256i load_table(const uint8_t table[16])
{
	return _mm256_broadcastsi128_si256(load_half(table));
}

WIDE static inline __m256i low_half(__m256i bytes)
{
	return _mm256_and_si256(bytes, _mm256_set1_epi8(15));
}

WIDE static inline __m256i high_half(__m256i bytes)
{
	return low_half(_mm256_srli_epi16(bytes, 4));
}

WIDE static inline __m256i look_up(__m256i low, __m256i high, __m256i lows, __m256i highs)
{
	return _mm256_and_si256(_mm256_shuffle_epi8(low, lows), _mm256_shuffle_epi8(high, highs));
}

/* What to add where that byte stands. */
WIDE static inline __m256i only(__m256i bytes, char byte, int more)
{
	return _mm256_and_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte)),
				_mm256_set1_epi8((char)more));
}

/* A bit for each byte that is not 0. */
WIDE static inline uint64_t some(__m256i bytes)
{
	return (uint32_t)~_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256()));
}

/* Of one place of the windows, for the bytes that stand there. */
WIDE static inline __m256i look_at(const struct sieve *sieve, int set, int place, __m256i bytes)
{
	return look_up(load_table(sieve->low[set][place]), load_table(sieve->high[set][place]),
		       low_half(bytes), high_half(bytes));
}

WIDE static inline __m256i look_through(const struct sieve *sieve, int set, const char *text)
{
	return _mm256_and_si256(_mm256_and_si256(look_at(sieve, set, 0, load(text)),
						 look_at(sieve, set, 1, load(text + 1))),
				_mm256_and_si256(look_at(sieve, set, 2, load(text + 2)),
						 look_at(sieve, set, 3, load(text + 3))));
}
_Static_assert(SIEVE_WINDOW == 4 && SIEVE_SETS == 3, "each set and place is looked at");

WIDE static inline uint64_t sieve_half(const struct sieve *sieve, const char *text)
{
	return some(_mm256_or_si256(_mm256_or_si256(look_through(sieve, 0, text),
						    look_through(sieve, 1, text)),
				    look_through(sieve, 2, text)));
}

WIDE static void wide_sieve(const struct sieve *sieve, const char *text, size_t blocks,
			    uint64_t *ret)
{
	for (; blocks; blocks--, text += LANES_BLOCK, ret++)
		*ret = sieve_half(sieve, text) | sieve_half(sieve, text + BYTES) << BYTES;
}

/* --- bytes looked up whole: Intel since Ice Lake, AMD since Zen 4 --- */

#define WIDEST __attribute__((target("avx512f,avx512bw,avx512vbmi")))

/* Of one place of the windows. */
WIDEST static inline __m512i look_whole(const struct sieve *sieve, int set, int place,
					__m512i bytes)
{
	const uint8_t *table = sieve->exact[set][place];

	return _mm512_permutex2var_epi8(_mm512_loadu_si512(table), bytes,
					_mm512_loadu_si512(table + 64));
}

WIDEST static inline __m512i look_through_whole(const struct sieve *sieve, int set,
						const __m512i bytes[SIEVE_WINDOW])
{
	return _mm512_and_si512(_mm512_and_si512(look_whole(sieve, set, 0, bytes[0]),
						 look_whole(sieve, set, 1, bytes[1])),
				_mm512_and_si512(look_whole(sieve, set, 2, bytes[2]),
						 look_whole(sieve, set, 3, bytes[3])));
}

/* A byte that is none of ASCII is looked up as another; at the last place, where one may stand
 * behind a prefix of three, that lets through more, and never less. */
WIDEST static void widest_sieve(const struct sieve *sieve, const char *text, size_t blocks,
				uint64_t *ret)
{
	for (; blocks; blocks--, text += LANES_BLOCK, ret++) {
		const __m512i bytes[SIEVE_WINDOW] = { _mm512_loadu_si512(text),
						      _mm512_loadu_si512(text + 1),
						      _mm512_loadu_si512(text + 2),
						      _mm512_loadu_si512(text + 3) };
		const __m512i passed =
			_mm512_or_si512(_mm512_or_si512(look_through_whole(sieve, 0, bytes),
							look_through_whole(sieve, 1, bytes)),
					look_through_whole(sieve, 2, bytes));
		const uint64_t other = _mm512_movepi8_mask(
			_mm512_or_si512(_mm512_or_si512(bytes[0], bytes[1]), bytes[2]));

		*ret = _mm512_test_epi8_mask(passed, passed) & ~other;
	}
}

/* --- digits --- */

/* The bit of each row of ASCII's table; none behind it. */
static const uint8_t row_bits[16] = { 1, 2, 4, 8, 16, 32, 64, 128 };

WIDE static void wide_members(const struct lanes_class *class, const char *text, size_t blocks,
			      uint64_t *ret)
{
	const __m256i rows = load_table(row_bits), columns = load_table(class->columns);

	for (; blocks; blocks--, text += LANES_BLOCK, ret++) {
		const __m256i first = load(text), second = load(text + BYTES);

		*ret = some(look_up(columns, rows, low_half(first), high_half(first))) |
		       some(look_up(columns, rows, low_half(second), high_half(second))) << BYTES;
	}
}

WIDEST static void widest_members(const struct lanes_class *class, const char *text, size_t blocks,
				  uint64_t *ret)
{
	const __m512i rows = _mm512_broadcast_i32x4(load_half(row_bits));
	const __m512i columns = _mm512_broadcast_i32x4(load_half(class->columns));
	const __m512i half = _mm512_set1_epi8(15);

	for (; blocks; blocks--, text += LANES_BLOCK, ret++) {
		const __m512i bytes = _mm512_loadu_si512(text);
		const __m512i low = _mm512_and_si512(bytes, half);
		const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), half);

		*ret = _mm512_test_epi8_mask(_mm512_shuffle_epi8(columns, low),
					     _mm512_shuffle_epi8(rows, high));
	}
}

/* --- pairs --- */

WIDE static size_t wide_pair(const char *text, size_t len, size_t at, const struct lanes_pair *pair)
{
	const __m256i first = _mm256_set1_epi8(pair->first);
	const __m256i second = _mm256_set1_epi8(pair->second[0]);
	const __m256i other = _mm256_set1_epi8(pair->second[1]);

	for (; at + BYTES < len; at += BYTES) {
		const __m256i behind = load(text + at + 1);
		const __m256i either = _mm256_or_si256(_mm256_cmpeq_epi8(behind, second),
						       _mm256_cmpeq_epi8(behind, other));
		const unsigned found = (unsigned)_mm256_movemask_epi8(
			_mm256_and_si256(_mm256_cmpeq_epi8(load(text + at), first), either));

		if (found)
			return at + (unsigned)__builtin_ctz(found);
	}
	return plain_pair(text, len, at, pair);
}

/* --- base64 --- */

/* RFC 4648, both alphabets. */
static const struct lanes_class base64 = { { 0xA8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8, 0xF8,
					     0xF8, 0xF0, 0x54, 0x50, 0x54, 0x50, 0x74 } };

/* What to add to a digit for its value, by its row; "-", "/" and "_" differ in theirs. */
static const uint8_t base64_add[16] = {
	0, 0, 62 - '+', 52 - '0', (uint8_t)-65, (uint8_t)-65, (uint8_t)-71, (uint8_t)-71
};

/* 32 digits as 24 bytes, eight of nothing behind them; false when one is none, or not ASCII. */
WIDE static bool decode(const char *text, char *to)
{
	const __m256i order = _mm256_broadcastsi128_si256(
		_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
	const __m256i digits = load(text), rows = high_half(digits);

	if (~some(look_up(load_table(base64.columns), load_table(row_bits), low_half(digits),
			  rows)) &
	    UINT32_MAX)
		return false;
	__m256i values = _mm256_add_epi8(digits, _mm256_shuffle_epi8(load_table(base64_add), rows));
	values = _mm256_add_epi8(values, only(digits, '-', 62 - '-' - (62 - '+')));
	values = _mm256_add_epi8(values, only(digits, '/', 63 - '/' - (62 - '+')));
	values = _mm256_add_epi8(values, only(digits, '_', 63 - '_' + 65));
	__m256i bytes = _mm256_maddubs_epi16(values, _mm256_set1_epi32(0x01400140));
	bytes = _mm256_madd_epi16(bytes, _mm256_set1_epi32(0x00011000));
	bytes = _mm256_shuffle_epi8(bytes, order);
	bytes = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 3, 7));
	_mm256_storeu_si256((__m256i *)(void *)to, bytes);
	return !_mm256_movemask_epi8(bytes);
}

WIDE static size_t wide_decode(const char *text, size_t len, char *to)
{
	size_t done = 0;

	while (len - done >= BYTES && decode(text + done, to + done / 4 * 3))
		done += BYTES;
	return done;
}

static const struct lanes wide = { wide_sieve, wide_members, wide_pair, wide_decode };
static const struct lanes widest = { widest_sieve, widest_members, wide_pair, wide_decode };

const struct lanes *lanes_of(enum lanes_width width)
{
	const bool has_wide = __builtin_cpu_supports("avx2");

	if (width == LANES_WIDEST && has_wide && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512vbmi"))
		return &widest;
	return width >= LANES_WIDE && has_wide ? &wide : &plain;
}

#else

const struct lanes *lanes_of(enum lanes_width width)
{
	(void)width;
	return &plain;
}

#endif
