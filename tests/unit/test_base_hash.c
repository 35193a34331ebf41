/*
 * SHA-256 against the examples of FIPS 180, in one piece and in many. What a digest is taken of,
 * and for what, is not shown here.
 */
#include "base/hash.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sha2.h>

/* FIPS 180-4 examples; the last is a million times 'a'. */
#define EMPTY	   "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ABC	   "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define TWO_BLOCKS "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
#define MILLION	   "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

static void test_known(void **state)
{
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	char hex[HASH_HEX_LEN + 1];

	(void)state;
	hash_sha256("", 0, hex);
	assert_string_equal(hex, EMPTY);
	hash_sha256(NULL, 0, hex);
	assert_string_equal(hex, EMPTY);
	hash_sha256("abc", 3, hex);
	assert_string_equal(hex, ABC);
	hash_sha256(two, strlen(two), hex);
	assert_string_equal(hex, TWO_BLOCKS);
}

static void test_pieces(void **state)
{
	static const size_t sizes[] = { 1, 63, 64, 65, 1000, 1000000 };
	cleanup_free char *text = mem_alloc(1000000);

	(void)state;
	memset(text, 'a', 1000000);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		char hex[HASH_HEX_LEN + 1];
		struct hash *h = hash_start();

		for (size_t at = 0; at < 1000000; at += sizes[i])
			hash_add(h, text + at, 1000000 - at < sizes[i] ? 1000000 - at : sizes[i]);
		hash_finish(h, hex);
		assert_string_equal(hex, MILLION);
	}
}

/* With the processor's instructions, where it has them, as the library does it. */
static void test_like_the_library(void **state)
{
	unsigned char bytes[700];
	SHA2_CTX ctx;

	(void)state;
	for (size_t len = 0; len < sizeof(bytes); len++)
		bytes[len] = (unsigned char)(len * 167 + len / 7);
	for (size_t len = 0; len < sizeof(bytes); len++) {
		struct hash *h = hash_start();
		size_t cut = len * 31 % (len + 1);

		hash_add(h, bytes, cut);
		hash_add(h, bytes + cut, len - cut);
		char ours[HASH_HEX_LEN + 1];
		hash_finish(h, ours);
		SHA256Init(&ctx);
		SHA256Update(&ctx, bytes, len);
		char library[HASH_HEX_LEN + 1];
		assert_string_equal(ours, SHA256End(&ctx, library));
	}
}

static void test_nul_bytes_count(void **state)
{
	char one[HASH_HEX_LEN + 1], two[HASH_HEX_LEN + 1];

	(void)state;
	hash_sha256("a\0b", 3, one);
	hash_sha256("a\0c", 3, two);
	assert_string_not_equal(one, two);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_like_the_library),
		cmocka_unit_test(test_nul_bytes_count),
	};

	return cmocka_run_group_tests_name("base hash", tests, NULL, NULL);
}
