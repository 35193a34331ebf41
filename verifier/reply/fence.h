/*
 * The block structure of CommonMark 0.31, as far as fenced code needs it:
 * which lines of a text are fenced code, inside which block quotes and list
 * items, and with what content. Everything else (paragraphs, headings, raw
 * HTML, indented code) is recognised only to know that it is not a fence.
 */
#ifndef VERIFIER_FENCE_H
#define VERIFIER_FENCE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum fence_flags {
	/* HTML blocks of type 7 (a line that is one complete unknown tag, such
	 * as <answer>) do not hide the fences inside them. */
	FENCE_TAGS_TRANSPARENT = 1,
	/* Skip <think>...</think>, and all before a lone </think>. */
	FENCE_SKIP_THINKING = 2,
};

/* Deeper nesting is read as text: a bound on work per line. */
#define FENCE_DEPTH_MAX 100
/* More blocks than this are an error. */
#define FENCE_BLOCKS_MAX 20000

struct fence {
	char *info;  /* trimmed, as written; owned */
	char marker; /* '`' or '~' */
	size_t marker_len;
	size_t start_line, end_line; /* of the fences, from 1 */
	size_t start_byte, end_byte; /* of the fence lines in the text */
	bool closed;
	char *code; /* content, line endings as \n; owned */
	size_t code_len;
};

struct fence_list {
	struct fence *fences; /* in order; owned */
	size_t count;
	size_t cap;
	bool tag_seen;	    /* an HTML block of type 7 was met */
	bool thinking_open; /* the text ends inside <think> */
	size_t answer_byte; /* where the text after the last thinking starts */
};

/* Linear in len. */
int fence_scan(const char *text, size_t len, unsigned flags, struct fence_list *ret,
	       struct error *err);
void fence_list_release(struct fence_list *list);
#define cleanup_fences __attribute__((cleanup(fence_list_release)))

#endif
