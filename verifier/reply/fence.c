/*
 * A line scanner after the block phase of the CommonMark reference
 * implementation: each line first continues open containers, then may open
 * new ones, and what is left belongs to one leaf. Only fenced code is kept.
 *
 * Left out, because no fence depends on it: inline structure, link reference
 * definitions (a setext underline after a paragraph made only of them is text
 * by the letter of the specification, a heading here), list tightness.
 */
#include "verifier/reply/fence.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/think_tag.h"
#include "verifier/reply/cursor.h"
#include "verifier/reply/html.h"
#include "verifier/reply/newline.h"
#include "verifier/reply/think.h"

#include <stdlib.h>
#include <string.h>

enum leaf { LEAF_NONE, LEAF_PARAGRAPH, LEAF_FENCE, LEAF_INDENTED, LEAF_HTML };

struct container {
	bool quote;	/* block quote, else list item */
	bool has_child; /* an item may start with one blank line only */
	size_t width;	/* columns an item's content is indented by */
};

struct scanner {
	const char *text, *end;
	unsigned flags;
	struct fence_list *list;

	struct cursor at;		  /* in the line at hand */
	const char *next;		  /* where to go on: start of the next line */
	const char *line_end, *line_next; /* of the line last looked for */
	size_t line_no;

	struct container stack[FENCE_DEPTH_MAX];
	size_t depth;
	enum leaf leaf;
	int html_type;

	/* the open fence: fences[count - 1] */
	size_t fence_indent;
	struct buf content;
	const char *run, *run_end; /* content so far when it is one piece of text */
	bool think_in_fence;	   /* the open fence's content has an opening tag */
	bool has_cr, has_think;
};

/* --- the line --- */

static void find_line_end(struct scanner *s, const char *start)
{
	const char *nl = memchr(start, '\n', (size_t)(s->end - start));
	const char *stop = nl ? nl : s->end, *cr = NULL;

	if (s->has_cr)
		cr = memchr(start, '\r', (size_t)(stop - start));
	s->line_end = cr ? cr : stop;
	if (cr && cr + 1 != nl)
		s->line_next = cr + 1;
	else
		s->line_next = nl ? nl + 1 : s->end;
}

static void line_split(struct scanner *s, const char *start)
{
	/* Going on within the line at hand (after thinking) must not look for
	 * its end again, or a line of tags would cost its square. */
	if (!s->at.line || start > s->line_end)
		find_line_end(s, start);
	s->at.line = start;
	s->at.line_len = (size_t)(s->line_end - start);
	s->next = s->line_next;
	s->line_no++;
	s->at.offset = s->at.column = 0;
	s->at.in_tab = false;
}

/* --- fenced content --- */

/* Appends text[from, to) plus a newline where the line had an ending. While
 * the content is one unbroken piece of the text, only its ends are kept. */
static int content_add(struct scanner *s, const char *from, const char *to, size_t spaces)
{
	bool ended = s->next > to;
	bool plain = !spaces && (!ended || (s->next == to + 1 && *to == '\n'));

	if (plain && !s->content.len && (!s->run || s->run_end == from)) {
		if (!s->run)
			s->run = from;
		s->run_end = ended ? to + 1 : to;
		return 0;
	}
	if (s->run)
		buf_add(&s->content, s->run, (size_t)(s->run_end - s->run));
	s->run = NULL;
	while (spaces--)
		buf_addch(&s->content, ' ');
	buf_add(&s->content, from, (size_t)(to - from));
	if (ended)
		buf_addch(&s->content, '\n');
	return s->content.overflow ? -1 : 0;
}

static void fence_add_line(struct scanner *s)
{
	size_t skip = s->fence_indent;

	while (skip-- && cursor_blank_at(&s->at, s->at.offset))
		cursor_advance(&s->at, 1);
	size_t spaces = 0;
	if (s->at.in_tab) {
		spaces = 4 - s->at.column % 4;
		s->at.offset++;
	}
	if (s->has_think && think_tag_mentioned(s->at.line, s->at.line_len, false))
		s->think_in_fence = true;
	content_add(s, s->at.line + s->at.offset, s->at.line + s->at.line_len, spaces);
}

static void fence_finish(struct scanner *s, bool closed)
{
	struct fence *f = &s->list->fences[s->list->count - 1];

	if (closed) {
		f->end_line = s->line_no;
		f->end_byte = (size_t)(s->at.line + s->at.line_len - s->text);
	}
	f->closed = closed;
	if (s->run) {
		f->code_len = (size_t)(s->run_end - s->run);
		f->code = mem_strndup(s->run, f->code_len);
	} else {
		f->code = buf_take(&s->content, &f->code_len);
	}
	s->run = NULL;
	buf_clear(&s->content);
}

static bool fence_closes(const struct scanner *s)
{
	const struct fence *f = &s->list->fences[s->list->count - 1];

	if (s->at.indent > 3 || cursor_peek(&s->at, s->at.first) != f->marker)
		return false;
	size_t n = cursor_run_len(&s->at);
	size_t at;
	for (at = s->at.first + n; cursor_blank_at(&s->at, at); at++)
		;
	return n >= f->marker_len && at == s->at.line_len;
}

/* --- leaves --- */

static void leaf_close(struct scanner *s)
{
	if (s->leaf == LEAF_FENCE) {
		struct fence *f = &s->list->fences[s->list->count - 1];
		f->end_line = s->line_no ? s->line_no - 1 : 0;
		f->end_byte = (size_t)(s->at.line - s->text);
		fence_finish(s, false);
	}
	s->leaf = LEAF_NONE;
}

static void leaf_open(struct scanner *s, enum leaf leaf)
{
	s->leaf = leaf;
	if (s->depth)
		s->stack[s->depth - 1].has_child = true;
}

static char *trimmed(const char *s, size_t len)
{
	while (len && (s[0] == ' ' || s[0] == '\t')) {
		s++;
		len--;
	}
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	return mem_strndup(s, len);
}

static bool fence_opens(const struct scanner *s)
{
	char c = cursor_peek(&s->at, s->at.first);

	if (s->at.indent > 3 || (c != '`' && c != '~'))
		return false;
	size_t n = cursor_run_len(&s->at);
	size_t after = s->at.first + n;
	return n >= 3 && !(c == '`' && memchr(s->at.line + after, '`', s->at.line_len - after));
}

static void fence_open(struct scanner *s)
{
	struct fence_list *list = s->list;

	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 8;
		list->fences = mem_array(list->fences, list->cap, sizeof(*list->fences));
	}
	struct fence *f = &list->fences[list->count++];
	memset(f, 0, sizeof(*f));
	f->marker = s->at.line[s->at.first];
	f->marker_len = cursor_run_len(&s->at);
	size_t after = s->at.first + f->marker_len;
	f->info = trimmed(s->at.line + after, s->at.line_len - after);
	f->start_line = s->line_no;
	f->start_byte = (size_t)(s->at.line - s->text);
	s->fence_indent = s->at.indent;
	s->think_in_fence = false;
	s->run = NULL;
	leaf_open(s, LEAF_FENCE);
}

/* --- containers --- */

static void container_push(struct scanner *s, bool quote, size_t width)
{
	if (s->depth)
		s->stack[s->depth - 1].has_child = true;
	s->stack[s->depth++] = (struct container){ .quote = quote, .width = width };
}

static void quote_open(struct scanner *s)
{
	cursor_to_first(&s->at);
	cursor_advance(&s->at, 1);
	if (cursor_blank_at(&s->at, s->at.offset))
		cursor_advance(&s->at, 1);
	container_push(s, true, 0);
}

/* Section 5.2: the content starts after one to four columns of blanks, or
 * after one when there are more (indented code) or nothing follows. */
static void item_open(struct scanner *s, size_t marker)
{
	size_t indent = s->at.indent;

	cursor_to_first(&s->at);
	cursor_advance(&s->at, marker);
	size_t offset = s->at.offset;
	size_t column = s->at.column;
	while (s->at.column - column <= 5 && cursor_blank_at(&s->at, s->at.offset))
		cursor_advance(&s->at, 1);
	size_t blanks = s->at.column - column;
	if (blanks < 1 || blanks >= 5 || s->at.offset == s->at.line_len) {
		s->at.offset = offset;
		s->at.column = column;
		s->at.in_tab = false;
		if (blanks)
			cursor_advance(&s->at, 1);
		blanks = 1;
	}
	container_push(s, false, indent + marker + blanks);
}

static bool container_continues(struct scanner *s, const struct container *c)
{
	cursor_find_first(&s->at);
	if (c->quote) {
		if (s->at.indent > 3 || cursor_peek(&s->at, s->at.first) != '>' ||
		    s->at.first >= s->at.line_len)
			return false;
		cursor_to_first(&s->at);
		cursor_advance(&s->at, 1);
		if (cursor_blank_at(&s->at, s->at.offset))
			cursor_advance(&s->at, 1);
		return true;
	}
	if (s->at.indent >= c->width) {
		cursor_advance(&s->at, c->width);
		return true;
	}
	if (s->at.blank && c->has_child) {
		cursor_to_first(&s->at);
		return true;
	}
	return false;
}

/* The whole line goes to the leaf that is open. */
static bool leaf_takes_line(struct scanner *s)
{
	cursor_find_first(&s->at);
	switch (s->leaf) {
	case LEAF_FENCE:
		if (fence_closes(s)) {
			fence_finish(s, true);
			s->leaf = LEAF_NONE;
		} else {
			fence_add_line(s);
		}
		return true;
	case LEAF_INDENTED:
		if (s->at.indent >= 4 || s->at.blank)
			return true;
		break;
	case LEAF_HTML:
		if (s->html_type >= 6 && s->at.blank)
			break;
		if (html_block_ends(s->html_type, s->at.line + s->at.offset,
				    s->at.line_len - s->at.offset))
			s->leaf = LEAF_NONE;
		return true;
	case LEAF_PARAGRAPH:
		if (!s->at.blank)
			return false;
		break;
	case LEAF_NONE:
		return false;
	}
	s->leaf = LEAF_NONE;
	return false;
}

/* Drops what the line did not continue, before something new opens. */
static void close_unmatched(struct scanner *s, size_t matched)
{
	leaf_close(s);
	s->depth = matched;
}

static bool html_opens(struct scanner *s, size_t matched, bool in_paragraph)
{
	const char *rest = s->at.line + s->at.first;
	size_t len = s->at.line_len - s->at.first;
	int type = html_block_start(rest, len);

	if (type == 7) {
		s->list->tag_seen = true;
		if (in_paragraph || (s->flags & FENCE_TAGS_TRANSPARENT))
			return false;
	}
	if (!type)
		return false;
	close_unmatched(s, matched);
	s->html_type = type;
	leaf_open(s, html_block_ends(type, rest, len) ? LEAF_NONE : LEAF_HTML);
	return true;
}

/* Whether the line is a leaf of its own: heading, rule, fence, HTML. */
static bool leaf_opens(struct scanner *s, size_t matched, bool in_paragraph)
{
	char c = cursor_peek(&s->at, s->at.first);

	if (c == '#' && cursor_is_heading(&s->at)) {
		close_unmatched(s, matched);
		leaf_open(s, LEAF_NONE);
		return true;
	}
	if (fence_opens(s)) {
		close_unmatched(s, matched);
		fence_open(s);
		return true;
	}
	if (c == '<' && html_opens(s, matched, in_paragraph))
		return true;
	if ((in_paragraph && cursor_is_underline(&s->at)) || cursor_is_rule(&s->at)) {
		close_unmatched(s, matched);
		leaf_open(s, LEAF_NONE);
		return true;
	}
	return false;
}

static bool container_opens(struct scanner *s, size_t *matched, bool in_paragraph)
{
	if (*matched >= FENCE_DEPTH_MAX)
		return false;
	if (cursor_peek(&s->at, s->at.first) == '>') {
		close_unmatched(s, *matched);
		quote_open(s);
	} else {
		size_t marker = cursor_list_marker(&s->at, in_paragraph);
		if (!marker)
			return false;
		close_unmatched(s, *matched);
		item_open(s, marker);
	}
	*matched = s->depth;
	return true;
}

static void scan_line(struct scanner *s)
{
	size_t matched = 0;

	while (matched < s->depth && container_continues(s, &s->stack[matched]))
		matched++;
	if (matched == s->depth && leaf_takes_line(s))
		return;
	bool lazy = s->leaf == LEAF_PARAGRAPH;
	bool in_paragraph = lazy && matched == s->depth;
	if (s->leaf == LEAF_FENCE)
		leaf_close(s);
	for (;;) {
		cursor_find_first(&s->at);
		if (s->at.blank) {
			close_unmatched(s, matched);
			return;
		}
		if (s->at.indent >= 4) {
			if (lazy)
				return;
			close_unmatched(s, matched);
			leaf_open(s, LEAF_INDENTED);
			return;
		}
		if (leaf_opens(s, matched, in_paragraph))
			return;
		if (!container_opens(s, &matched, in_paragraph))
			break;
		lazy = in_paragraph = false;
	}
	if (lazy)
		return;
	close_unmatched(s, matched);
	leaf_open(s, LEAF_PARAGRAPH);
}

/* --- thinking --- */

/* Where the text goes on after the thinking that starts here, with a tag of that kind. */
static const char *think_end(struct scanner *s, const char *from, int kind)
{
	size_t n;
	const char *tag = think_tag_find(from, (size_t)(s->end - from), true, &kind, &n);

	s->list->thinking_open = !tag;
	return tag ? tag + n : s->end;
}

static void forget_all(struct scanner *s)
{
	leaf_close(s);
	s->depth = 0;
	for (size_t i = 0; i < s->list->count; i++) {
		free(s->list->fences[i].info);
		free(s->list->fences[i].code);
	}
	s->list->count = 0;
	s->list->tag_seen = false;
}

/* Skips thinking at this line; false when there is none. */
static bool skip_thinking(struct scanner *s)
{
	size_t at = 0;

	while (at < s->at.line_len && cursor_blank_at(&s->at, at))
		at++;
	int kind = THINK_ANY;
	size_t n = s->leaf == LEAF_FENCE ?
			   0 :
			   think_tag(s->at.line + at, s->at.line_len - at, false, &kind);
	const char *resume = NULL;
	if (n) {
		leaf_close(s);
		s->depth = 0;
		resume = think_end(s, s->at.line + at + n, kind);
	} else if (!(s->leaf == LEAF_FENCE && s->think_in_fence)) {
		resume = think_lone_end(s->at.line, s->at.line_len);
		if (resume)
			forget_all(s);
	}
	if (!resume)
		return false;
	s->line_no += count_newlines(s->at.line, (size_t)(resume - s->at.line));
	s->line_no--; /* the rest of the closing tag's line counts as it again */
	s->next = resume;
	s->list->answer_byte = (size_t)(resume - s->text);
	if (resume < s->end && *resume == '\n') {
		s->next++;
		s->line_no++;
	}
	return true;
}

/* --- all --- */

/* The next line that could close the open fence (its marker after at most
 * three blanks), or the end. */
static const char *find_marker_line(const struct scanner *s, const char *from, char marker)
{
	const char *at = from, *start;

	while ((at = memchr(at, marker, (size_t)(s->end - at)))) {
		for (start = at; start > from && start[-1] == ' ' && at - start < 3; start--)
			;
		if (start == from || start[-1] == '\n')
			return start;
		at = memchr(at, '\n', (size_t)(s->end - at));
		if (!at)
			break;
	}
	return s->end;
}

/* Most bytes of a long reply are the inside of a fence at the left margin:
 * there nothing but the closing fence matters. */
static void skip_content(struct scanner *s)
{
	const char *to = find_marker_line(s, s->next, s->list->fences[s->list->count - 1].marker);

	if (to == s->next)
		return;
	s->line_no += count_newlines(s->next, (size_t)(to - s->next));
	if (!s->run)
		s->run = s->next;
	s->run_end = to;
	s->at.line = NULL; /* nothing is known of the line at `to` */
	s->next = to;
	if (to == s->end && to[-1] != '\n')
		s->line_no++;
}

static bool can_skip_content(const struct scanner *s)
{
	return s->leaf == LEAF_FENCE && !s->depth && !s->fence_indent && !s->has_cr &&
	       !s->has_think && !s->content.len;
}

/* The open fence reaches the end of the text. */
static void close_at_end(struct scanner *s)
{
	if (s->leaf != LEAF_FENCE)
		return;
	s->line_no++;
	s->at.line = s->end;
	leaf_close(s);
}

int fence_scan(const char *text, size_t len, unsigned flags, struct fence_list *ret,
	       struct error *err)
{
	cleanup_fences struct fence_list list = { 0 };
	struct scanner s = { .text = text, .end = text + len, .flags = flags, .list = &list };

	buf_init(&s.content, 4 * len + 16); /* a tab may become three spaces */
	s.has_cr = memchr(text, '\r', len) != NULL;
	s.has_think = (flags & FENCE_SKIP_THINKING) && (think_tag_mentioned(text, len, false) ||
							think_tag_mentioned(text, len, true));
	int rc = 0;
	for (s.next = text; s.next < s.end && !rc;) {
		line_split(&s, s.next);
		if (s.has_think && skip_thinking(&s))
			continue;
		scan_line(&s);
		if (list.count > FENCE_BLOCKS_MAX)
			rc = error_set(err, ERR_FAILED, "the reply has more than %d code blocks",
				       FENCE_BLOCKS_MAX);
		if (can_skip_content(&s))
			skip_content(&s);
	}
	close_at_end(&s);
	buf_release(&s.content);
	if (rc)
		return rc;
	*ret = list;
	list = (struct fence_list){ 0 };
	return 0;
}

void fence_list_release(struct fence_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->fences[i].info);
		free(list->fences[i].code);
	}
	free(list->fences);
	*list = (struct fence_list){ 0 };
}
