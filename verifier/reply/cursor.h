/* A place in one line of CommonMark text, in bytes and in columns. */
#ifndef VERIFIER_CURSOR_H
#define VERIFIER_CURSOR_H

#include <stdbool.h>
#include <stddef.h>

struct cursor {
	const char *line; /* without its ending */
	size_t line_len;
	size_t offset, column; /* tabs reach to columns of 4 */
	bool in_tab;	       /* part of the tab at offset is used up */
	/* since cursor_find_first: */
	size_t first; /* offset of the first character that is no blank */
	size_t first_column;
	size_t indent; /* columns from here to it */
	bool blank;    /* there is none */
};

char cursor_peek(const struct cursor *c, size_t at); /* newline past the end */
bool cursor_blank_at(const struct cursor *c, size_t at);
void cursor_find_first(struct cursor *c);
void cursor_to_first(struct cursor *c);
void cursor_advance(struct cursor *c, size_t columns);

/* Of the first character that is no blank: how often it is repeated, and what
 * kind of line it starts (sections 4.2, 4.3, 4.1, 5.2). */
size_t cursor_run_len(const struct cursor *c);
bool cursor_is_heading(const struct cursor *c);
bool cursor_is_underline(const struct cursor *c);
bool cursor_is_rule(const struct cursor *c);
/* Bytes of the list marker, or 0. An item that interrupts a paragraph must not
 * be empty and must not start at another number than 1. */
size_t cursor_list_marker(const struct cursor *c, bool interrupts);

#endif
