/*
 * Times the search for secrets in one MiB that has none. The question is which text: code, random
 * bytes, base64 of either, hex, JSON lines; each is made here, the same in every process.
 */
#include "tests/bench/probe.h"

#if __has_include("audit/redact/redact.h")
#include "audit/redact/redact.h"
#else /* before it had a folder */
#include "audit/audit.h"
#include "audit/redact.h"
#endif
#include "base/mem.h"

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

static struct buf texts[6];
static const char *const names[] = { "code",	   "random",	    "hex", "base64 of random",
				     "JSON lines", "base64 of code" };

static void make_texts(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		texts[i] = (struct buf)BUF_INIT(SIZE_MAX / 2);
	add_code(&texts[0], TEXT_BYTES);
	add_random(&texts[1], TEXT_BYTES);
	add_hex(&texts[2], &texts[1]);
	add_base64(&texts[3], &texts[1]);
	add_json_lines(&texts[4], TEXT_BYTES);
	add_base64(&texts[5], &texts[0]);
}

static struct redactor *redactor;

static void measure(const struct buf *text)
{
	struct buf clean = BUF_INIT(SIZE_MAX / 2);
	const double began = probe_now_ms();
	const size_t found = redact_bytes(redactor, text->data, text->len, &clean);
	const double took_ms = probe_now_ms() - began;

	if (found > 0)
		printf("no %zu secrets that are none\n", found);
	else
		probe_ok(took_ms * (double)TEXT_BYTES / (double)text->len);
	buf_release(&clean);
}

static void answer(char *const *words, size_t count)
{
	for (size_t i = 0; count == 1 && i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i], words[0])) {
			measure(&texts[i]);
			return;
		}
	probe_no("no such text");
}

int main(void)
{
	static const struct audit_secret secrets[] = {
		{ "API_KEY", "a value of the user's, 4f1b" },
		{ "OTHER_KEY", "another one, 77c0" },
	};

	redactor = redactor_new(secrets, ARRAY_SIZE(secrets), "salt");
	make_texts();
	probe_serve(answer);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		buf_release(&texts[i]);
	redactor_free(redactor);
	return 0;
}
