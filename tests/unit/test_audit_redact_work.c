/*
 * What looking for secrets costs in the worst texts that are known, counted in bytes looked at
 * and not in time: twice the text is at most twice the work, and no byte is looked at without
 * end.
 */
#include "audit/redact/encode.h"
#include "audit/redact/redact.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHORT_LEN ((size_t)1 << 18) /* well over each limit of what is walked at once */
#define MOST	  128		    /* looks at one byte */
#define TEXT_MAX  ((size_t)64 << 20)

static void fill(struct buf *out, const char *what, size_t len)
{
	while (out->len < len)
		buf_addstr(out, what);
}

static size_t work_of(const struct redactor *r, const struct buf *text)
{
	return redact_work(r, text->data, text->len);
}

static void assert_linear(const struct redactor *r, const char *name, const struct buf *once,
			  const struct buf *twice)
{
	const size_t first = work_of(r, once), second = work_of(r, twice);

	print_message("%-44.44s %6.1f looks at a byte\n", name,
		      (double)second / (double)twice->len);
	if (second > first * 2 + first / 8 || second > twice->len * MOST)
		fail_msg("%s: %zu for %zu bytes, %zu for %zu", name, first, once->len, second,
			 twice->len);
}

static const char *const prefixes[] = {
	"for i in range(10): print('hello', i)\n",
	"password=",
	"password=...",
	"password=\"",
	"password='\\\"",
	"password = a\n",
	"password: x ",
	"\"password\": \"",
	"token=abcdefgh\n",
	"token=",
	"token:",
	"token=\"",
	"secret={",
	"api_key_api_key_",
	"password_password-",
	"passwordtokensecret",
	"pass pwd psk auth ",
	"--password ",
	"login password ",
	"<password>",
	"Authorization: ",
	"a://",
	"a://:a",
	"a://b:c/",
	"https://user:pass",
	":5432:",
	":5432:a:b",
	"curl -u ",
	"Basic dXNl",
	"Bearer ",
	"Bearer a",
	"sk-",
	"xsk-",
	"sk-a1",
	"sk-aaaa.",
	"eyJ",
	"eyJaaaaaaaaaa.",
	"eyJaaaaaaaaaa..",
	"AKIA",
	"aaaaaaaa",
	"hunter2/",
	"ghp_",
	"SG.aaaaaaaaaaaaaaaa.",
	"12345678:AA",
	"-----BEGIN ",
	"-----BEGIN PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----\x01",
	"-----BEGIN PRIVATE KEY-----\n",
	"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAAA\n",
	"-----BEGIN PRIVATE KEY----------",
	"-----END PRIVATE KEY-----",
	"MC4CAQAwBQYDK2VwBCIEIAAA\n-----END PRIVATE KEY-----\n",
	"-----",
	"MC4CAQAwBQYDK2VwBCIEIAAA\n",
	"\\\"",
	"\\\\",
	"\\u0070assword=",
	"%70assword%3D",
	"%25",
	"cGFzc3dvcmQ9",
	"70617373776f72643d",
};

static void test_prefixes_without_end(void **state)
{
	static const struct audit_secret given = { "KEY", "hunter2/pass+word\"with=odd" };
	struct redactor *r = redactor_new(&given, 1, "salt");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		cleanup_buf struct buf once = BUF_INIT(TEXT_MAX), twice = BUF_INIT(TEXT_MAX);

		fill(&once, prefixes[i], SHORT_LEN);
		fill(&twice, prefixes[i], SHORT_LEN * 2);
		assert_linear(r, prefixes[i], &once, &twice);
	}
	redactor_free(r);
}

static void fill_random(struct buf *out, size_t len)
{
	uint32_t seed = 7;

	while (out->len < len) {
		seed = seed * 1103515245U + 12345;
		buf_addch(out, (char)(seed >> 24));
	}
}

static void test_random_bytes(void **state)
{
	struct redactor *r = redactor_new(NULL, 0, "salt");
	cleanup_buf struct buf once = BUF_INIT(TEXT_MAX), twice = BUF_INIT(TEXT_MAX);

	(void)state;
	fill_random(&once, SHORT_LEN);
	fill_random(&twice, SHORT_LEN * 2);
	assert_linear(r, "random bytes", &once, &twice);
	redactor_free(r);
}

/* Each layer of an encoding in itself, and in every other. */
static void wrap(struct buf *text, unsigned form)
{
	struct buf next = BUF_INIT(TEXT_MAX);

	encode_form(form, text->data, text->len, &next);
	buf_release(text);
	*text = next;
}

static void test_encodings_in_encodings(void **state)
{
	static const unsigned layers = 4;
	struct redactor *r = redactor_new(NULL, 0, "salt");

	(void)state;
	for (unsigned a = 0; a < ENCODE_FORMS; a++) {
		for (unsigned b = 0; b < ENCODE_FORMS; b++) {
			cleanup_buf struct buf once = BUF_INIT(TEXT_MAX),
					       twice = BUF_INIT(TEXT_MAX);
			cleanup_free char *name = mem_printf("form %u in form %u", a, b);

			fill(&once, "password=\"x\\ ", SHORT_LEN / 8);
			fill(&twice, "password=\"x\\ ", SHORT_LEN / 4);
			for (unsigned layer = 0; layer < layers; layer++) {
				wrap(&once, layer % 2 ? b : a);
				wrap(&twice, layer % 2 ? b : a);
			}
			assert_linear(r, name, &once, &twice);
		}
	}
	redactor_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixes_without_end),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_encodings_in_encodings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
