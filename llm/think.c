/*
 * Reasoning that a model writes into its text between tags, told apart as the text comes. A byte
 * that may be part of a tag is held back until that is known; none is lost.
 */
#include "llm/think.h"

#include <string.h>

static const char open_tag[] = "<think>";
static const char close_tag[] = "</think>";
#define OPEN_LEN  (sizeof(open_tag) - 1)
#define CLOSE_LEN (sizeof(close_tag) - 1)

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void give(struct think *t, bool reasoning, const char *bytes, size_t len)
{
	if (len > 0)
		t->piece(t->self, reasoning, bytes, len);
}

static void give_held(struct think *t, bool reasoning)
{
	size_t len = t->held_len;

	t->held_len = 0;
	give(t, reasoning, t->held, len);
}

/* Most replies show with their first byte that they open with no tag. */
static bool starts_plainly(const struct think *t, char c)
{
	return t->held_len == 0 && c != '<' && !is_blank(c);
}

/* Takes one byte; leaves THINK_START once it is clear whether a tag opens the reply. */
static void start_byte(struct think *t, char c)
{
	t->held[t->held_len++] = c;
	size_t blank = 0;
	while (blank < t->held_len && is_blank(t->held[blank]))
		blank++;
	size_t rest = t->held_len - blank;
	if (rest == OPEN_LEN && !memcmp(t->held + blank, open_tag, OPEN_LEN)) {
		t->held_len = 0;
		t->state = THINK_INSIDE;
	} else if (memcmp(t->held + blank, open_tag, rest) || t->held_len == THINK_HELD_MAX) {
		t->state = THINK_TEXT;
		give_held(t, false);
	}
}

/*
 * Takes one byte while part of a closing tag may be held. '<' occurs only at
 * the tag's start, so a mismatch can begin a new match only with this byte.
 */
static void inside_byte(struct think *t, char c)
{
	if (c != close_tag[t->held_len]) {
		give_held(t, true);
		if (c != close_tag[0]) {
			give(t, true, &c, 1);
			return;
		}
	}
	t->held[t->held_len++] = c;
	if (t->held_len == CLOSE_LEN) {
		t->held_len = 0;
		t->state = THINK_AFTER;
	}
}

/* Returns how many bytes it took. */
static size_t inside(struct think *t, const char *bytes, size_t len)
{
	if (t->held_len > 0 || *bytes == '<') {
		inside_byte(t, *bytes);
		return 1;
	}
	const char *lt = memchr(bytes, '<', len);
	size_t n = lt ? (size_t)(lt - bytes) : len;
	give(t, true, bytes, n);
	return n;
}

/* The line breaks between the closing tag and the answer belong to neither. */
static size_t after(struct think *t, const char *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && (bytes[n] == '\n' || bytes[n] == '\r'))
		n++;
	if (n < len)
		t->state = THINK_TEXT;
	return n;
}

void think_feed(struct think *t, const char *bytes, size_t len)
{
	while (len > 0) {
		size_t n = 1;

		switch (t->state) {
		case THINK_START:
			n = starts_plainly(t, *bytes) ? 0 : 1;
			if (n == 0)
				t->state = THINK_TEXT;
			else
				start_byte(t, *bytes);
			break;
		case THINK_INSIDE:
			n = inside(t, bytes, len);
			break;
		case THINK_AFTER:
			n = after(t, bytes, len);
			break;
		case THINK_TEXT:
			give(t, false, bytes, len);
			return;
		}
		bytes += n;
		len -= n;
	}
}

void think_finish(struct think *t, bool cut)
{
	bool in_tag = t->held_len && !is_blank(t->held[t->held_len - 1]);

	give_held(t, t->state == THINK_INSIDE || (cut && t->state == THINK_START && in_tag));
}

/* An odd number of fence lines before at: at is inside a code block. */
static bool inside_fence(const char *text, size_t at)
{
	bool inside_block = false, line_start = true;

	for (size_t i = 0; i < at; i++) {
		if (line_start && at - i >= 3 &&
		    (!memcmp(text + i, "```", 3) || !memcmp(text + i, "~~~", 3)))
			inside_block = !inside_block;
		line_start = text[i] == '\n';
	}
	return inside_block;
}

bool think_closing_only(const char *text, size_t len, size_t *ret_end, size_t *ret_start)
{
	const char *tag = memmem(text, len, close_tag, CLOSE_LEN);

	if (!tag)
		return false;
	size_t at = (size_t)(tag - text);
	if ((at > 0 && text[at - 1] == '`') || memmem(text, at, open_tag, OPEN_LEN) ||
	    inside_fence(text, at))
		return false;
	size_t start = at + CLOSE_LEN;
	while (start < len && (text[start] == '\n' || text[start] == '\r'))
		start++;
	*ret_end = at;
	*ret_start = start;
	return true;
}
