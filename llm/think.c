/*
 * Reasoning that a model writes into its text between tags, told apart as the text comes. A byte
 * that may be part of a tag is held back until that is known; none is lost.
 */
#include "llm/think.h"

#include "base/think_tag.h"

#include <string.h>

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
	const char *tag = t->held + blank;
	size_t len = t->held_len - blank;
	t->kind = THINK_ANY;
	if (think_tag(tag, len, false, &t->kind)) {
		t->held_len = 0;
		t->state = THINK_INSIDE;
	} else if (!think_tag_begun(tag, len, false, THINK_ANY) || t->held_len == THINK_HELD_MAX) {
		t->state = THINK_TEXT;
		give_held(t, false);
	}
}

/*
 * Takes one byte while part of the closing tag may be held, of the kind that opened: another is
 * part of the reasoning. '<' occurs only at a tag's start, so a mismatch can begin a new match
 * only with this byte.
 */
static void inside_byte(struct think *t, char c)
{
	t->held[t->held_len] = c;
	if (think_tag(t->held, t->held_len + 1, true, &t->kind)) {
		t->held_len = 0;
		t->state = THINK_AFTER;
	} else if (think_tag_begun(t->held, t->held_len + 1, true, t->kind)) {
		t->held_len++;
	} else {
		give_held(t, true);
		if (c == '<')
			t->held[t->held_len++] = c;
		else
			give(t, true, &c, 1);
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

/* The first closing tag that no tag of its kind comes before. */
static const char *find_lone_close(const char *text, size_t len, size_t *ret_len)
{
	const char *first = NULL;

	for (int kind = 0; kind < THINK_KINDS; kind++) {
		size_t n, unused;
		const char *tag = think_tag_find(text, len, true, &kind, &n);

		if (!tag || think_tag_find(text, (size_t)(tag - text), false, &kind, &unused))
			continue;
		len = (size_t)(tag - text); /* another has to come before */
		*ret_len = n;
		first = tag;
	}
	return first;
}

bool think_closing_only(const char *text, size_t len, size_t *ret_end, size_t *ret_start)
{
	size_t n;
	const char *tag = find_lone_close(text, len, &n);

	if (!tag)
		return false;
	size_t at = (size_t)(tag - text);
	if ((at > 0 && text[at - 1] == '`') || inside_fence(text, at))
		return false;
	size_t start = at + n;
	while (start < len && (text[start] == '\n' || text[start] == '\r'))
		start++;
	*ret_end = at;
	*ret_start = start;
	return true;
}
