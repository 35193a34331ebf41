/* A text that is on its way, a model's reply or a program's output: its last lines on the live
 * block of the terminal, with what goes on, for how long and how fast below them. */
#ifndef AGENT_STREAM_H
#define AGENT_STREAM_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct terminal;

struct stream {
	struct buf text; /* what came, as far as it is of use */
	char *approach;	 /* of the plan in it; owned; NULL: none was read yet */
	bool is_reply;
	int64_t began_ms, first_ms, drawn_ms; /* clock_mono_ms; 0: not yet */
	size_t bytes;
	int64_t memory_bytes; /* of a program; 0: not known */
	int64_t window_ms;    /* since when these draws are counted */
	int draws;
};

/* A new one, of a model or (is_reply false) of a program. */
void stream_begin(struct stream *s, bool is_reply);
void stream_release(struct stream *s);

/* Adds to it and shows it, not more often than an eye can follow. what is what goes on, in
 * words. */
void stream_add(struct terminal *term, struct stream *s, const char *what, const char *bytes,
		size_t len);

/* What a program that runs has in memory, shown in the same way. */
void stream_used(struct terminal *term, struct stream *s, const char *what, int64_t memory_bytes);

/* The approach that the plan in it names; NULL: none. To be asked when it is whole. */
const char *stream_approach(struct stream *s);

#endif
