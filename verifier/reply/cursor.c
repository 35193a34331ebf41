/*
 * A place in a line as CommonMark counts: columns, tabs of four, the marks that open a block. It
 * steps forwards only and knows no fence.
 */
#include "verifier/reply/cursor.h"

#include <ctype.h>

char cursor_peek(const struct cursor *c, size_t at)
{
	return at < c->line_len ? c->line[at] : '\n';
}

void cursor_find_first(struct cursor *c)
{
	size_t at = c->offset, column = c->column;

	for (; at < c->line_len; at++) {
		if (c->line[at] == ' ')
			column++;
		else if (c->line[at] == '\t')
			column += 4 - column % 4;
		else
			break;
	}
	c->first = at;
	c->first_column = column;
	c->indent = column - c->column;
	c->blank = at == c->line_len;
}

void cursor_advance(struct cursor *c, size_t count)
{
	while (count && c->offset < c->line_len) {
		size_t width = c->line[c->offset] == '\t' ? 4 - c->column % 4 : 1;
		size_t step = width < count ? width : count;
		c->in_tab = step < width;
		c->column += step;
		count -= step;
		if (!c->in_tab)
			c->offset++;
	}
}

void cursor_to_first(struct cursor *c)
{
	c->offset = c->first;
	c->column = c->first_column;
	c->in_tab = false;
}

bool cursor_blank_at(const struct cursor *c, size_t at)
{
	return cursor_peek(c, at) == ' ' || cursor_peek(c, at) == '\t';
}

size_t cursor_run_len(const struct cursor *c)
{
	size_t n = 0;
	char mark = cursor_peek(c, c->first);

	while (cursor_peek(c, c->first + n) == mark && c->first + n < c->line_len)
		n++;
	return n;
}

bool cursor_is_heading(const struct cursor *c)
{
	size_t n = 0;

	while (cursor_peek(c, c->first + n) == '#')
		n++;
	return n >= 1 && n <= 6 &&
	       (cursor_blank_at(c, c->first + n) || c->first + n == c->line_len);
}

bool cursor_is_underline(const struct cursor *c)
{
	size_t at = c->first;
	char mark = cursor_peek(c, at);

	if (mark != '=' && mark != '-')
		return false;
	while (cursor_peek(c, at) == mark && at < c->line_len)
		at++;
	while (cursor_blank_at(c, at))
		at++;
	return at == c->line_len;
}

bool cursor_is_rule(const struct cursor *c)
{
	char mark = cursor_peek(c, c->first);

	if (mark != '*' && mark != '-' && mark != '_')
		return false;
	size_t n = 0;
	for (size_t at = c->first; at < c->line_len; at++) {
		if (c->line[at] == mark)
			n++;
		else if (!cursor_blank_at(c, at))
			return false;
	}
	return n >= 3;
}

/* Bytes of a list marker at the first character, or 0. */
size_t cursor_list_marker(const struct cursor *c, bool interrupts)
{
	size_t at = c->first, digits = 0;
	long start = 1;
	char mark = cursor_peek(c, at);

	if (mark == '*' || mark == '-' || mark == '+') {
		at++;
	} else {
		for (start = 0; digits < 9 && isdigit((unsigned char)cursor_peek(c, at)); digits++)
			start = start * 10 + (cursor_peek(c, at++) - '0');
		if (!digits || (cursor_peek(c, at) != '.' && cursor_peek(c, at) != ')'))
			return 0;
		at++;
	}
	if (at < c->line_len && !cursor_blank_at(c, at))
		return 0;
	if (interrupts) {
		size_t rest = at;

		while (cursor_blank_at(c, rest))
			rest++;
		if (rest == c->line_len || start != 1)
			return 0;
	}
	return at - c->first;
}
