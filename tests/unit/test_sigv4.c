/* Signatures against AWS's published test vectors (aws-sig-v4-test-suite), and the example of its
 * guide. */
#include "sandbox/lambda/sigv4.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#define TIME	   "20150830T123600Z"
#define SECRET	   "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define HOST	   "Host:example.amazonaws.com"
#define DATE	   "X-Amz-Date:" TIME
#define LINES(...) ((const char *const[]){ __VA_ARGS__, NULL })

struct vector {
	const char *name, *method, *path, *query;
	const char *const *headers;
	const char *body, *names, *signature;
};

static const struct vector vectors[] = {
	{ "get-vanilla", "GET", "/", "", LINES(HOST, DATE), "", "host;x-amz-date",
	  "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31" },
	{ "post-vanilla", "POST", "/", "", LINES(HOST, DATE), "", "host;x-amz-date",
	  "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b" },
	{ "get-vanilla-query-order-key-case", "GET", "/", "Param1=value1&Param2=value2",
	  LINES(HOST, DATE), "", "host;x-amz-date",
	  "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500" },
	{ "get-utf8", "GET", "/%E1%88%B4", "", LINES(HOST, DATE), "", "host;x-amz-date",
	  "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85" },
	{ "get-header-value-trim", "GET", "/", "",
	  LINES(HOST, "My-Header1: value1", "My-Header2: \"a   b   c\"", DATE), "",
	  "host;my-header1;my-header2;x-amz-date",
	  "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736" },
	{ "post-x-www-form-urlencoded", "POST", "/", "",
	  LINES("Content-Type:application/x-www-form-urlencoded", HOST, DATE), "Param1=value1",
	  "content-type;host;x-amz-date",
	  "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a" },
	{ "post-header-value-case", "POST", "/", "", LINES(HOST, "My-Header1:VALUE1", DATE), "",
	  "host;my-header1;x-amz-date",
	  "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d" },
};

static void test_vectors(void **state)
{
	const struct sigv4_key key = { "AKIDEXAMPLE", SECRET, "us-east-1", "service" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct vector *v = &vectors[i];
		const struct sigv4_request q = { v->method,  v->path, v->query,
						 v->headers, v->body, strlen(v->body) };
		cleanup_free char *got = sigv4_sign(&key, &q, TIME);
		cleanup_free char *want = mem_printf(
			"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/"
			"aws4_request, SignedHeaders=%s, Signature=%s",
			v->names, v->signature);

		if (strcmp(got, want))
			fail_msg("%s:\n%s\n%s", v->name, got, want);
	}
}

/* AWS General Reference, "Signature Version 4 signing process": ListUsers. */
static void test_the_guide(void **state)
{
	const struct sigv4_key key = { "AKIDEXAMPLE", SECRET, "us-east-1", "iam" };
	const struct sigv4_request q = {
		"GET",
		"/",
		"Action=ListUsers&Version=2010-05-08",
		LINES("Content-Type: application/x-www-form-urlencoded; charset=utf-8",
		      "Host: iam.amazonaws.com", DATE),
		"",
		0
	};
	cleanup_free char *got = sigv4_sign(&key, &q, TIME);

	(void)state;
	assert_non_null(strstr(
		got, "Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_the_guide),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
