/*
 * The event splitter on any bytes: however the stream is cut into pieces, the
 * events are the same. The first byte chooses the framing and the pieces.
 *   clang -fsanitize=fuzzer,address,undefined tests/fuzz/sse.c libassay.a
 */
#include "base/buf.h"
#include "llm/wire/sse.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CEILING ((size_t)2048) /* small, so that it is met */

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void on_event(void *self, const char *data, size_t len, bool tail)
{
	struct buf *all = self;

	buf_addf(all, "%zu %d:", len, tail);
	buf_add(all, data, len);
}

/* size 0: whole. Returns whether the stream survived. */
static bool split(const char *bytes, size_t len, enum sse_framing framing, size_t size,
		  struct buf *all)
{
	struct sse s;
	bool alive = true;

	sse_init(&s, framing, CEILING, on_event, all);
	while (alive && len > 0) {
		size_t n = size && size < len ? size : len;
		char *piece = malloc(n); /* alone, so that reading past it is seen */

		memcpy(piece, bytes, n);
		alive = sse_feed(&s, piece, n) == 0;
		free(piece);
		bytes += n;
		len -= n;
		size = size ? size % 7 + 1 : 0;
	}
	alive = alive && sse_finish(&s) == 0;
	sse_release(&s);
	return alive;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct buf whole = BUF_INIT((size_t)1 << 24), pieces = BUF_INIT((size_t)1 << 24);

	if (len == 0)
		return 0;
	enum sse_framing framing = bytes[0] & 1 ? SSE_LINES : SSE_EVENTS;
	bool first = split((const char *)bytes + 1, len - 1, framing, 0, &whole);
	bool second =
		split((const char *)bytes + 1, len - 1, framing, 1 + (bytes[0] >> 1), &pieces);
	if (first != second ||
	    (first && (whole.len != pieces.len ||
		       (whole.len && memcmp(whole.data, pieces.data, whole.len)))))
		abort();
	buf_release(&whole);
	buf_release(&pieces);
	return 0;
}
