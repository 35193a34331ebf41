/*
 * Where a line for people is broken (fold.h). It knows no terminal and writes to none: what it is
 * given was made visible before.
 */
#include "agent/cli/terminal/fold.h"

#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

#define INDENT "  "

/* Where the blanks at text end, and the word after them. */
static size_t next_word(const char *text, size_t len, size_t *ret_blanks)
{
	size_t n = 0;

	while (n < len && text[n] == ' ')
		n++;
	*ret_blanks = n;
	while (n < len && text[n] != ' ')
		n++;
	return n;
}

static void fold_line(struct buf *out, const char *text, size_t len, size_t at, size_t columns)
{
	bool begun = at > 0; /* a line has a word */

	for (size_t i = 0, blanks, n; i < len; i += n) {
		n = next_word(text + i, len - i, &blanks);
		size_t width = utf8_width(text + i + blanks, n - blanks);
		if (begun && blanks && n > blanks && at + blanks + width > columns) {
			buf_addstr(out, "\n" INDENT);
			at = strlen(INDENT);
			buf_add(out, text + i + blanks, n - blanks);
		} else {
			buf_add(out, text + i, n);
			at += blanks;
		}
		at += width;
		begun = true;
	}
}

void fold_words(struct buf *out, const char *text, size_t len, size_t at, size_t columns)
{
	for (size_t i = 0, n; i < len; i += n + 1, at = 0) {
		const char *end = memchr(text + i, '\n', len - i);

		n = end ? (size_t)(end - text) - i : len - i;
		fold_line(out, text + i, n, at, columns);
		if (end)
			buf_addch(out, '\n');
	}
}
