/*
 * The decoders on any bytes: a reply is the same however its stream is cut into
 * pieces, what the sink saw is the reply, and error bodies are classified. The
 * first byte chooses the wire, the way, and the pieces.
 *   clang -fsanitize=fuzzer,address,undefined tests/fuzz/wire.c libassay.a
 */
#include "base/mem.h"
#include "base/think_tag.h"
#include "base/utf8.h"
#include "llm/wire/decode.h"
#include "llm/wire/errors.h"
#include "llm/wire/wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void on_text(void *self, const char *bytes, size_t len)
{
	buf_add(self, bytes, len);
}

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void feed(struct decode *d, const char *bytes, size_t len, size_t size)
{
	while (len > 0) {
		size_t n = size && size < len ? size : len;
		char *piece = malloc(n);

		memcpy(piece, bytes, n);
		int rc = decode_feed(d, piece, n);
		free(piece);
		if (rc < 0)
			break;
		bytes += n;
		len -= n;
		size = size ? size % 13 + 1 : 0;
	}
	decode_finish(d);
}

static bool same_string(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_text(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && (a->len == 0 || !memcmp(a->data, b->data, a->len));
}

static void check_same(const struct decode *a, const struct decode *b)
{
	check(a->failed == b->failed && a->terminal == b->terminal && a->stop == b->stop);
	check(same_text(&a->text, &b->text) && same_text(&a->reasoning, &b->reasoning));
	check(same_string(a->raw_stop, b->raw_stop) && same_string(a->model, b->model));
	check(same_string(a->error.message, b->error.message) && a->error.class == b->error.class);
	check(!memcmp(&a->usage, &b->usage, sizeof(a->usage)));
}

static void try_stream(const struct wire *wire, const char *bytes, size_t len, size_t size)
{
	struct buf seen = BUF_INIT((size_t)1 << 26);
	const struct llm_sink sink = { .text = on_text, .self = &seen };
	struct decode whole, pieces;

	decode_init(&whole, &wire->responses, &sink);
	decode_init(&pieces, &wire->responses, NULL);
	feed(&whole, bytes, len, 0);
	feed(&pieces, bytes, len, size);
	check_same(&whole, &pieces);
	check(whole.text.len == 0 || utf8_valid(whole.text.data, whole.text.len));
	check(whole.terminal || whole.stop == LLM_STOP_TRUNCATED);
	/* Reasoning closed by a tag only is the one thing taken back. */
	check(think_tag_mentioned(seen.data ? seen.data : "", seen.len, true) ||
	      same_text(&seen, &whole.text));
	decode_release(&whole);
	decode_release(&pieces);
	buf_release(&seen);
}

static void try_body(const struct wire *wire, const char *bytes, size_t len)
{
	struct decode d;
	struct llm_reply reply = { .first_token_ms = -1 };

	decode_init(&d, &wire->responses, NULL);
	decode_body(&d, bytes, len);
	check(d.failed || d.terminal || d.stop == LLM_STOP_TRUNCATED);
	decode_into_reply(&d, &reply);
	json_free(llm_reply_json(&reply));
	llm_reply_release(&reply);
	decode_release(&d);
}

static void try_error(long status, const char *bytes, size_t len)
{
	struct llm_error error = { .class = LLM_ERROR_NONE };
	char *param = NULL;

	errors_classify(status, bytes, len, &error, &param);
	check(error.class != LLM_ERROR_NONE);
	llm_error_release(&error);
	free(param);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const long statuses[] = { 400, 401, 404, 422, 429, 500, 503, 529 };

	if (len == 0)
		return 0;
	const struct wire *wire = wire_find((enum llm_wire)(bytes[0] & 3));
	char *text = malloc(len); /* one byte more than needed is not there */
	memcpy(text, bytes + 1, len - 1);
	text[len - 1] = '\0';
	if ((bytes[0] >> 2 & 3) == 2)
		try_body(wire, text, len - 1);
	else if ((bytes[0] >> 2 & 3) == 3)
		try_error(statuses[bytes[0] >> 4 & 7], text, len - 1);
	else
		try_stream(wire, text, len - 1, 1 + (bytes[0] >> 4));
	free(text);
	return 0;
}
