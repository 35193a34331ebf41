/*
 * What it costs to look for secrets in texts that have none, in milliseconds per megabyte:
 * source code, random bytes, base64 of both, hex, and lines of JSON with code in them. Each
 * text is made here, the same in every run.
 *
 *	bench_redact [ITERATIONS [TEXT]]	default 50, all
 */
#include "tests/bench/bench.h"

#include "audit/redact/redact.h"

#include <stdint.h>

#define TEXT_BYTES ((size_t)1 << 20)
#define SEED	   UINT64_C(0x9E3779B97F4A7C15)

static const char code[] = "def measure(samples, limit=10):\n"
			   "    \"\"\"The mean and the spread of what was sampled.\"\"\"\n"
			   "    rows = [line.split(',') for line in samples if line]\n"
			   "    total = sum(float(row[1]) for row in rows[:limit])\n"
			   "    if not rows:\n"
			   "        raise ValueError(f'no rows in {len(samples)} lines')\n"
			   "    print('mean: %.2f' % (total / len(rows)), end='\\n')\n"
			   "    return {'mean': total / len(rows), \"count\": len(rows)}\n\n";

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void add_random(struct buf *out, size_t len)
{
	uint64_t state = SEED;

	for (size_t i = 0; i < len; i++)
		buf_addch(out, (char)(random_next(&state) >> 32));
}

/* Code whose numbers differ from line to line. */
static void add_code(struct buf *out, size_t len)
{
	uint64_t state = SEED;

	while (out->len < len)
		buf_addf(out, "%sLIMIT_%u = %u\n", code, (unsigned)(random_next(&state) >> 54),
			 (unsigned)(random_next(&state) >> 34));
}

static void add_base64(struct buf *out, const struct buf *bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i + 2 < bytes->len; i += 3) {
		const unsigned char *p = (const unsigned char *)bytes->data + i;
		const unsigned bits = (unsigned)p[0] << 16 | (unsigned)p[1] << 8 | p[2];

		for (int shift = 18; shift >= 0; shift -= 6)
			buf_addch(out, digits[bits >> shift & 63]);
	}
}

static void add_hex(struct buf *out, const struct buf *bytes)
{
	for (size_t i = 0; i < bytes->len; i++)
		buf_addf(out, "%02x", (unsigned char)bytes->data[i]);
}

/* As a log of events has it: one object in a line, code in its strings. */
static void add_json_lines(struct buf *out, size_t len)
{
	while (out->len < len) {
		buf_addf(out, "{\"id\":%zu,\"kind\":\"code\",\"text\":\"", out->len);
		for (const char *p = code; *p; p++) {
			if (*p == '\n')
				buf_addstr(out, "\\n");
			else if (*p == '"' || *p == '\\')
				buf_addf(out, "\\%c", *p);
			else
				buf_addch(out, *p);
		}
		buf_addstr(out, "\",\"ok\":true}\n");
	}
}

static int iterations = 50;
static const char *only; /* NULL: all */

static void measure(const struct redactor *redactor, const char *name, const struct buf *text)
{
	double *times = mem_array(NULL, (size_t)iterations, sizeof(*times));

	for (int n = 0; n < iterations && (!only || !strcmp(only, name)); n++) {
		struct buf clean = BUF_INIT(SIZE_MAX / 2);
		const double start = bench_now_ms();
		const size_t found = redact_bytes(redactor, text->data, text->len, &clean);

		times[n] = (bench_now_ms() - start) * (double)TEXT_BYTES / (double)text->len;
		buf_release(&clean);
		if (found)
			printf("  %s: %zu secrets that are none\n", name, found);
	}
	if (!only || !strcmp(only, name)) {
		bench_print(name, times, iterations);
		printf("\n");
	}
	free(times);
}

int main(int argc, char **argv)
{
	static const struct audit_secret secrets[] = {
		{ "API_KEY", "a value of the user's, 4f1b" },
		{ "OTHER_KEY", "another one, 77c0" },
	};
	struct buf bytes = BUF_INIT(SIZE_MAX / 2), text = BUF_INIT(SIZE_MAX / 2);
	struct buf encoded[4] = { BUF_INIT(SIZE_MAX / 2), BUF_INIT(SIZE_MAX / 2),
				  BUF_INIT(SIZE_MAX / 2), BUF_INIT(SIZE_MAX / 2) };
	struct redactor *redactor = redactor_new(secrets, ARRAY_SIZE(secrets), "salt");

	if (argc > 1)
		iterations = atoi(argv[1]);
	if (argc > 2)
		only = argv[2];
	add_code(&text, TEXT_BYTES);
	add_random(&bytes, TEXT_BYTES);
	add_base64(&encoded[0], &bytes);
	add_hex(&encoded[1], &bytes);
	add_json_lines(&encoded[2], TEXT_BYTES);
	add_base64(&encoded[3], &text);
	printf("  ms per MiB                minimum   median      p99\n");
	measure(redactor, "code", &text);
	measure(redactor, "random", &bytes);
	measure(redactor, "base64 of random", &encoded[0]);
	measure(redactor, "hex", &encoded[1]);
	measure(redactor, "JSON lines", &encoded[2]);
	measure(redactor, "base64 of code", &encoded[3]);
	for (size_t i = 0; i < ARRAY_SIZE(encoded); i++)
		buf_release(&encoded[i]);
	buf_release(&bytes);
	buf_release(&text);
	redactor_free(redactor);
	return 0;
}
