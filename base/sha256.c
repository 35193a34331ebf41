/*
 * SHA-256's compression function by the instructions that processors have for it, some eight times
 * as fast as without. It knows nothing of lengths and padding, which are hash.c's, and is only
 * called where the processor has been asked.
 */
#include "base/sha256.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)

#include <immintrin.h>
#include <sys/platform/x86.h>

/* FIPS 180-4, 4.2.2. */
static const uint32_t constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

#define WITH_SHA __attribute__((target("sha,sse4.1")))

bool sha256_can(void)
{
	return CPU_FEATURE_PRESENT(SSE4_1) && CPU_FEATURE_PRESENT(SHA);
}

/* The next four words of the schedule, of the sixteen before. */
WITH_SHA static inline __m128i schedule(const __m128i w[4])
{
	const __m128i sum =
		_mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));

	return _mm_sha256msg2_epu32(sum, w[3]);
}

/* state: A, B, E, F and C, D, G, H, as the instructions want them. */
WITH_SHA static void one_block(__m128i state[2], const unsigned char *bytes)
{
	const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
	__m128i abef = state[0], cdgh = state[1], w[4];

	for (size_t round = 0; round < 16; round++) {
		__m128i next;

		if (round < 4) {
			next = _mm_shuffle_epi8(
				_mm_loadu_si128(
					(const __m128i *)(const void *)(bytes + 16 * round)),
				swap);
			w[round] = next;
		} else {
			next = schedule(w);
			w[0] = w[1];
			w[1] = w[2];
			w[2] = w[3];
			w[3] = next;
		}
		__m128i sum = _mm_add_epi32(
			next,
			_mm_loadu_si128((const __m128i *)(const void *)(constants + 4 * round)));
		cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
		abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
	}
	state[0] = _mm_add_epi32(state[0], abef);
	state[1] = _mm_add_epi32(state[1], cdgh);
}

WITH_SHA void sha256_blocks(uint32_t state[8], const unsigned char *bytes, size_t count)
{
	__m128i *words = (__m128i *)(void *)state;
	const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
	const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
	__m128i now[2] = { _mm_alignr_epi8(cdab, efgh, 8), _mm_blend_epi16(efgh, cdab, 0xf0) };

	for (; count > 0; count--, bytes += SHA256_BLOCK)
		one_block(now, bytes);
	__m128i feba = _mm_shuffle_epi32(now[0], 0x1b);
	__m128i dchg = _mm_shuffle_epi32(now[1], 0xb1);
	_mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
	_mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool sha256_can(void)
{
	return false;
}

void sha256_blocks(uint32_t state[8], const unsigned char *bytes, size_t count)
{
	(void)state;
	(void)bytes;
	(void)count;
}

#endif
