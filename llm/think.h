/*
 * Separates inline reasoning, between tags of base/think_tag.h, from the answer while it
 * streams. The opening tag counts only as the first thing in a reply, so that
 * an answer may talk about the tag. Pure.
 */
#ifndef LLM_THINK_H
#define LLM_THINK_H

#include <stdbool.h>
#include <stddef.h>

enum think_state { THINK_START, THINK_INSIDE, THINK_AFTER, THINK_TEXT };

#define THINK_HELD_MAX 64

struct think {
	enum think_state state;
	/* Receives every piece; reasoning says which of the two it is. */
	void (*piece)(void *self, bool reasoning, const char *bytes, size_t len);
	void *self;
	char held[THINK_HELD_MAX]; /* bytes that may yet become a tag */
	size_t held_len;
	int kind; /* of the tag that opened */
};

void think_feed(struct think *t, const char *bytes, size_t len);
/* Gives out what was held. A piece of a tag at the start of a reply that was cut is no
 * answer: it counts as reasoning. */
void think_finish(struct think *t, bool cut);

/*
 * Some servers swallow the opening tag. True when text holds a closing tag
 * alone, outside a code fence and not quoted in backticks: the reasoning is
 * then text[0, *ret_end) and the answer starts at *ret_start.
 */
bool think_closing_only(const char *text, size_t len, size_t *ret_end, size_t *ret_start);

#endif
