/*
 * Signature Version 4: a request in a canonical form, a text that names its digest and scope, and
 * an HMAC chain from the secret to the signature. The secret and what is derived of it are wiped
 * here. Nothing is sent from here.
 */
#include "sandbox/lambda/sigv4.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DIGEST_LEN 32
#define BLOCK_LEN  64

static void digest(const void *a, size_t a_len, const void *b, size_t b_len,
		   unsigned char ret[DIGEST_LEN])
{
	struct hash *h = hash_start();

	hash_add(h, a, a_len);
	hash_add(h, b, b_len);
	char hex[HASH_HEX_LEN + 1];
	hash_finish(h, hex);
	for (size_t i = 0; i < DIGEST_LEN; i++) {
		char pair[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		ret[i] = (unsigned char)strtoul(pair, NULL, 16);
	}
}

/* HMAC-SHA-256 (RFC 2104). ret may be key. */
static void hmac(const void *key, size_t key_len, const char *text, unsigned char ret[DIGEST_LEN])
{
	unsigned char inner[BLOCK_LEN] = { 0 };

	if (key_len > BLOCK_LEN)
		digest(key, key_len, "", 0, inner);
	else
		memcpy(inner, key, key_len);
	unsigned char outer[BLOCK_LEN];
	for (size_t i = 0; i < BLOCK_LEN; i++) {
		outer[i] = inner[i] ^ 0x5c;
		inner[i] ^= 0x36;
	}
	unsigned char sum[DIGEST_LEN];
	digest(inner, BLOCK_LEN, text, strlen(text), sum);
	digest(outer, BLOCK_LEN, sum, DIGEST_LEN, ret);
	explicit_bzero(inner, sizeof(inner));
	explicit_bzero(outer, sizeof(outer));
}

/* "name:value": the name in small letters, the value without blanks around it and runs of them. */
static char *canonical_header(const char *line)
{
	struct buf out = BUF_INIT(65536);
	const char *value = strchr(line, ':');

	for (const char *c = line; c < value; c++)
		buf_addch(&out, (char)tolower((unsigned char)*c));
	buf_addch(&out, ':');
	for (value += 1 + strspn(value + 1, " "); *value; value++)
		if (*value != ' ' || (value[1] != ' ' && value[1] != '\0'))
			buf_addch(&out, *value);
	return buf_take(&out, NULL);
}

/* By name: what stands before the colon. */
static int compare(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	size_t n = strcspn(x, ":"), m = strcspn(y, ":");
	int order = strncmp(x, y, n < m ? n : m);

	return order ? order : n < m ? -1 : n > m;
}

static void add_headers(const char *const *lines, struct buf *canonical, struct buf *names)
{
	char *sorted[32] = { NULL };
	size_t count = 0;

	for (; count < ARRAY_SIZE(sorted) && lines[count]; count++)
		sorted[count] = canonical_header(lines[count]);
	qsort(sorted, count, sizeof(*sorted), compare);
	for (size_t i = 0; i < count; i++) {
		buf_addf(canonical, "%s\n", sorted[i]);
		buf_addf(names, "%s%.*s", i ? ";" : "", (int)strcspn(sorted[i], ":"), sorted[i]);
		free(sorted[i]);
	}
}

static void derive(const struct sigv4_key *k, const char *day, unsigned char ret[DIGEST_LEN])
{
	char *first = mem_printf("AWS4%s", k->secret);

	hmac(first, strlen(first), day, ret);
	hmac(ret, DIGEST_LEN, k->region, ret);
	hmac(ret, DIGEST_LEN, k->service, ret);
	hmac(ret, DIGEST_LEN, "aws4_request", ret);
	explicit_bzero(first, strlen(first));
	free(first);
}

char *sigv4_sign(const struct sigv4_key *k, const struct sigv4_request *q, const char *time)
{
	struct buf canonical = BUF_INIT(1 << 20), names = BUF_INIT(65536), out = BUF_INIT(65536);
	cleanup_free char *day = mem_strndup(time, strcspn(time, "T"));
	cleanup_free char *scope = mem_printf("%s/%s/%s/aws4_request", day, k->region, k->service);
	char hex[HASH_HEX_LEN + 1];

	hash_sha256(q->body ? q->body : "", q->body_len, hex);
	buf_addf(&canonical, "%s\n%s\n%s\n", q->method, q->path, q->query);
	add_headers(q->headers, &canonical, &names);
	buf_addf(&canonical, "\n%s\n%s", names.data, hex);
	hash_sha256(canonical.data, canonical.len, hex);
	cleanup_free char *to_sign = mem_printf("AWS4-HMAC-SHA256\n%s\n%s\n%s", time, scope, hex);
	unsigned char key[DIGEST_LEN];
	derive(k, day, key);
	unsigned char signature[DIGEST_LEN];
	hmac(key, DIGEST_LEN, to_sign, signature);
	explicit_bzero(key, sizeof(key));
	buf_addf(&out, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=", k->id,
		 scope, names.data);
	for (size_t i = 0; i < DIGEST_LEN; i++)
		buf_addf(&out, "%02x", signature[i]);
	buf_release(&canonical);
	buf_release(&names);
	return buf_take(&out, NULL);
}
