/*
 * Walks what stands at a prefix of the table, byte by byte, and says where it ends. It never
 * goes back over a run of bytes for the same row, so that the time is linear in the text; it
 * changes nothing and keeps nothing of what it saw.
 */
#include "audit/redact/keyshape.h"

#include "audit/redact/assign.h"
#include "audit/redact/pem.h"
#include "audit/redact/view.h"
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A key without a digit is believed only from this length: "sk-learn-compatible" is no key. */
#define SURE_LEN 40

/* --- patterns --- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_alnum(char c)
{
	return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool in_class(char c, char class)
{
	switch (class) {
	case 'd':
		return is_digit(c);
	case 'h':
		return is_hex(c);
	case 'u':
		return is_digit(c) || (c >= 'A' && c <= 'Z');
	case 'a':
		return is_alnum(c);
	case 'x':
		return is_alnum(c) || c == '_';
	case 'w':
		return is_alnum(c) || c == '_' || c == '-';
	case 't':
		return is_alnum(c) || (c && strchr("-_.~+/=", c));
	case 'p':
		return is_alnum(c) || (c && strchr("-_%+/=", c));
	default:
		return (unsigned char)c > ' ' && !strchr("\"'\\", c);
	}
}

struct part {
	char class;
	size_t min, max;
};

/* "%C{N}" or "%C{N,M}" at pattern; behind it. */
static const char *read_part(const char *pattern, struct part *ret)
{
	ret->class = pattern[1];
	char *end;
	ret->min = strtoul(pattern + 3, &end, 10);
	ret->max = *end == ',' ? strtoul(end + 1, &end, 10) : SIZE_MAX;
	return end + 1;
}

/*
 * The end of what pattern matches at text + at, or 0. *ret_first is where its first part
 * ends, which every later prefix inside of it shares.
 */
static size_t match_pattern(const char *pattern, const char *text, size_t len, size_t at,
			    size_t *ret_first)
{
	*ret_first = 0;
	size_t sure = 0;
	while (*pattern) {
		const size_t start = at;

		if (*pattern == '?') {
			sure = at;
			pattern++;
			continue;
		}
		if (*pattern != '%') {
			if (at == len || text[at++] != *pattern++)
				return sure;
			continue;
		}
		struct part part;
		pattern = read_part(pattern, &part);
		while (at < len && at - start < part.max && in_class(text[at], part.class))
			at++;
		if (!*ret_first)
			*ret_first = at;
		if (at - start < part.min)
			return sure;
	}
	return at;
}

static bool has_digit(const char *text, size_t start, size_t end)
{
	while (start < end)
		if (is_digit(text[start++]))
			return true;
	return false;
}

/* Moves *start in front of what must stand there. */
static bool match_before(const char *before, const char *text, size_t *start)
{
	size_t at = *start;
	struct part part;

	read_part(before, &part);
	while (at && *start - at < part.max && in_class(text[at - 1], part.class))
		at--;
	if (*start - at < part.min)
		return false;
	*start = at;
	return true;
}

static bool match_token(struct keyshape_pass *pass, size_t row, const char *text, size_t len,
			size_t start, size_t body, size_t *ret_start, size_t *ret_end)
{
	const struct shape *shape = &shape_table[row];

	/* Before the run is walked: only a short run may be walked in vain. */
	if (shape->flags & SHAPE_WORD && !view_word_starts(text, start))
		return false;
	if (shape->flags & SHAPE_ALONE && start && strchr("+/", text[start - 1]))
		return false;
	if (shape->before && !match_before(shape->before, text, &start))
		return false;
	size_t first;
	size_t end = match_pattern(shape->pattern, text, len, body, &first);
	pass->work.walked += (end > first ? end : first) - start;
	if (!end) {
		pass->dead_to[row] = first;
		return false;
	}
	if (shape->flags & SHAPE_DIGIT && end - body < SURE_LEN && !has_digit(text, body, end))
		return false;
	if (shape->flags & SHAPE_ALONE && end < len && strchr("+/", text[end]))
		return false;
	*ret_start = shape->flags & SHAPE_AFTER ? body : start;
	*ret_end = end;
	return true;
}

static bool match_kind(struct keyshape_pass *pass, size_t row, const char *text, size_t len,
		       size_t start, size_t body, size_t *ret_start, size_t *ret_end)
{
	switch (shape_table[row].kind) {
	case SHAPE_PEM:
		*ret_start = start;
		return pem_match(text, len, body, &pass->work, ret_end);
	case SHAPE_PEM_TAIL:
		*ret_end = start;
		return pem_match_tail(text, len, body, pass->dead_to[row], &pass->work, ret_start,
				      ret_end);
	case SHAPE_TOKEN:
		return match_token(pass, row, text, len, start, body, ret_start, ret_end);
	case SHAPE_SECRET:
	case SHAPE_PASSWORD:
	case SHAPE_LOGIN:
	case SHAPE_BASIC:
	case SHAPE_URL:
	case SHAPE_PGPASS:
	case SHAPE_USER:
		break;
	}
	return assign_match(&shape_table[row], &pass->work, text, len, start, body, ret_start,
			    ret_end);
}

bool keyshape_match(struct keyshape_pass *pass, size_t row, const char *text, size_t len,
		    size_t start, size_t prefix_end, size_t *ret_start, size_t *ret_end)
{
	/* A run is walked once per row: a prefix inside it shares its end. */
	if (start < pass->dead_to[row])
		return false;
	if (!match_kind(pass, row, text, len, start, prefix_end, ret_start, ret_end))
		return false;
	pass->dead_to[row] = *ret_end;
	return true;
}
