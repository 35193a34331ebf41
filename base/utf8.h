/*
 * UTF-8 (RFC 3629): validation, repair, display. Normalisation by utf8proc.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Length of the longest valid prefix; == len when all is valid. */
size_t utf8_valid_prefix(const char *bytes, size_t len);
bool utf8_valid(const char *bytes, size_t len);

/* How many bytes at the end are the beginning of a character whose rest is not there: 0 to 3. */
size_t utf8_unfinished(const char *bytes, size_t len);

/* Of text that comes in pieces, the bytes of a character whose rest is to come. */
struct utf8_begun {
	char bytes[4];
	size_t len;
};
/* Appends those and a piece, but for the character that it ends within. -1 when out has no room. */
int utf8_join(struct utf8_begun *begun, struct buf *out, const char *bytes, size_t len);

/* What iconv calls the encoding of text in another form of Unicode (UTF-16, UTF-32), by its byte
 * order mark or, without one, by the NULs beside its first characters; else NULL. */
const char *utf8_other(const char *bytes, size_t len);

/* Appends bytes with each invalid sequence replaced by U+FFFD, counted as the
 * Unicode Standard (3.9, U+FFFD Substitution of Maximal Subparts) advises. */
int utf8_repair(struct buf *out, const char *bytes, size_t len);

/*
 * Appends text that came from outside for a terminal: newline and tab stay,
 * every other control character (C0, DEL, C1, bidirectional overrides and
 * isolates, line and paragraph separators, invisible tags) is shown as <XX> or
 * <U+XXXX>, invalid bytes as <XX>. No sequence a terminal obeys passes.
 */
int utf8_visible(struct buf *out, const char *bytes, size_t len);

/* The same for JSON text, which stays the same document: each such character is
 * the escape \uXXXX of it, and an invalid byte U+FFFD's. */
int utf8_escape(struct buf *out, const char *bytes, size_t len);

/* Appends text in Normalization Form C (UAX #15); invalid text, and text
 * with more than 128 combining marks in a row, is copied as it is. */
int utf8_normalise(struct buf *out, const char *bytes, size_t len);

/* How many bytes of text, in whole characters, fit into that many columns. */
size_t utf8_fit(const char *bytes, size_t len, size_t columns);

/* Terminal columns of text (wide characters count 2). */
size_t utf8_width(const char *bytes, size_t len);

#endif
