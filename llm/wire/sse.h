/*
 * Splits a byte stream into events: Server-Sent Events (WHATWG HTML, 9.2) or
 * newline-delimited JSON. Pure: no I/O, no clock.
 *
 * Bytes may be split anywhere. A line and the data of one event have a ceiling
 * given at init. Differences from the WHATWG text, on purpose: `id` and `retry`
 * are ignored, and an event whose closing blank line is missing at the end of
 * the stream is delivered, marked as the tail, because servers leave it out.
 */
#ifndef LLM_SSE_H
#define LLM_SSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum sse_framing { SSE_EVENTS, SSE_LINES };

struct sse {
	enum sse_framing framing;
	/* Called for each event; data is valid during the call only. */
	void (*event)(void *self, const char *data, size_t len, bool tail);
	void *self;
	struct buf line; /* the line so far, when a chunk ended inside it */
	struct buf data; /* data lines of the event so far, each with its LF */
	bool after_cr;	 /* an LF now belongs to the CR before it */
	bool past_bom;
};

void sse_init(struct sse *s, enum sse_framing framing, size_t ceiling_bytes,
	      void (*event)(void *self, const char *data, size_t len, bool tail), void *self);
void sse_release(struct sse *s);

/* 0, or -1 when a line or an event passed the ceiling (the stream is then dead). */
int sse_feed(struct sse *s, const char *bytes, size_t len);

/* The stream ended: delivers what is pending. */
int sse_finish(struct sse *s);

#endif
