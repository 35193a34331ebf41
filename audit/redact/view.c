/*
 * Decodes what a secret could hide in of escapes, and asks for the digits. Every byte of a text
 * is in at most one view of JSON, one percent-encoded, two of hex and four of base64, each no
 * longer than the text, so that looking through all of them is linear. Decoded bytes are wiped.
 */
#include "audit/redact/view.h"

#include "audit/redact/digits.h"
#include "audit/redact/encode.h"
#include "audit/redact/lanes.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ESCAPE_MAX 12 /* "\ud83d\ude00" */
#define WORD_BITS  64

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* --- places --- */

void view_places_init(struct view_places *places, size_t len)
{
	places->bits = mem_array(NULL, len / VIEW_PLACE / WORD_BITS + 1, sizeof(*places->bits));
	memset(places->bits, 0, (len / VIEW_PLACE / WORD_BITS + 1) * sizeof(*places->bits));
}

void view_places_add(struct view_places *places, size_t at)
{
	const size_t bit = at / VIEW_PLACE;

	places->bits[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
}

/* The next bit's first byte that is not before at; len without one. */
static size_t next_place(const struct view_places *places, size_t len, size_t at)
{
	const size_t words = len / VIEW_PLACE / WORD_BITS + 1;
	const size_t bit = at / VIEW_PLACE;
	size_t word = bit / WORD_BITS;
	uint64_t rest = word < words ? places->bits[word] & UINT64_MAX << bit % WORD_BITS : 0;

	while (!rest && ++word < words)
		rest = places->bits[word];
	if (!rest)
		return len;
	return (word * WORD_BITS + (unsigned)__builtin_ctzll(rest)) * VIEW_PLACE;
}

/* --- escapes --- */

struct mapped {
	struct buf plain;
	struct view_mark *marks; /* owned */
	size_t count, cap;
	bool digits;
};

static void mapped_release(struct mapped *m)
{
	explicit_bzero(m->plain.data, m->plain.len);
	buf_release(&m->plain);
	free(m->marks);
}

/* The escape that ends at `from` gave what plain has from `before` on. */
static void add_mark(struct mapped *m, size_t before, size_t from)
{
	if (m->count == m->cap) {
		m->cap = m->cap * 2 + 16;
		m->marks = mem_array(m->marks, m->cap, sizeof(*m->marks));
	}
	m->marks[m->count++] = (struct view_mark){ (uint32_t)m->plain.len, (uint32_t)from };
	for (; before < m->plain.len; before++)
		m->digits |= digits_is_base64(m->plain.data[before]);
}

static size_t json_escape_len(const char *text, size_t len)
{
	if (len < 2 || text[1] != 'u')
		return len < 2 ? len : 2;
	return len >= ESCAPE_MAX && text[6] == '\\' && text[7] == 'u' && (text[2] | 32) == 'd' ?
		       ESCAPE_MAX :
		       (len < 6 ? len : 6);
}

static bool is_percent(const char *text, size_t len)
{
	return len >= 3 && *text == '%' && digits_is_hex(text[1]) && digits_is_hex(text[2]);
}

/* What the escape at text stands for; how long it is. */
static size_t decode_escape(enum view_kind kind, const char *text, size_t len, struct buf *out)
{
	size_t used = 1;

	if (kind == VIEW_JSON) {
		used = json_escape_len(text, len);
		decode_json(text, used, out);
	} else if (is_percent(text, len)) {
		used = 3;
		buf_addch(out, (char)(digits_hex_value(text[1]) << 4 | digits_hex_value(text[2])));
	} else {
		buf_addch(out, *text);
	}
	return used;
}

static void see_mapped(enum view_kind kind, const char *text, size_t start, size_t end,
		       view_see *see, void *self)
{
	struct mapped m = { .plain = BUF_INIT(SIZE_MAX / 2) };

	for (size_t at = start; at < end;) {
		const char *p = memchr(text + at, kind == VIEW_JSON ? '\\' : '%', end - at);
		const size_t escape = p ? (size_t)(p - text) : end;

		buf_add(&m.plain, text + at, escape - at);
		size_t before = m.plain.len;
		at = escape;
		if (at == end)
			break;
		at += decode_escape(kind, p, end - at, &m.plain);
		add_mark(&m, before, at - start);
	}
	see(self,
	    &(struct view){ kind, m.plain.data, m.plain.len, start, m.marks, m.count, m.digits });
	mapped_release(&m);
}

static bool ends_word(char c)
{
	return (unsigned char)c <= ' ' || strchr("\"'<>`", c) != NULL;
}

static bool hides(const char *text, size_t len)
{
	const char *p;

	while (len > 1 && (p = memchr(text, '\\', len - 1))) {
		if (p[1] && strchr("\"\\/u", p[1]))
			return true;
		len -= (size_t)(p + 1 - text);
		text = p + 1;
	}
	return false;
}

/*
 * Where decoding could next show what is not there to see, from at on: an escape of a letter, or
 * a prefix (to VIEW_PLACE bytes) whose secret goes on behind an escape. len: nowhere.
 */
struct worth {
	const struct lanes *lanes;
	const struct view_places *places;
	size_t place, escape; /* the next ones of each */
};

static const struct lanes_pair letter = { '\\', { 'u', '/' } };

static size_t next_worth(struct worth *w, const char *text, size_t len, size_t at)
{
	if (w->place < len && w->place + VIEW_PLACE <= at)
		w->place = next_place(w->places, len, at);
	if (w->escape < at)
		w->escape = w->lanes->pair(text, len, at, &letter);
	at = w->place > at ? w->place : at;
	for (; at < len && text[at] == '\n'; at++)
		;
	return at < w->escape ? at : w->escape;
}

/* Lines with an escape that hides something: \n and the like hide nothing. */
static void see_json(const char *text, size_t len, const struct view_places *places, view_see *see,
		     void *self)
{
	struct worth worth = { lanes_of(LANES_WIDEST), places, next_place(places, len, 0), 0 };

	worth.escape = worth.lanes->pair(text, len, 0, &letter);
	size_t at = 0, found;
	while ((found = next_worth(&worth, text, len, at)) < len) {
		const char *p = memrchr(text + at, '\n', found - at);
		size_t start = p ? (size_t)(p - text) + 1 : at;
		p = memchr(text + found, '\n', len - found);
		size_t end = p ? (size_t)(p - text) : len;
		if (end - start < UINT32_MAX && hides(text + start, end - start))
			see_mapped(VIEW_JSON, text, start, end, see, self);
		at = end;
	}
}

static void see_percent(const char *text, size_t len, view_see *see, void *self)
{
	size_t at = 0;
	const char *p;

	while (at < len && (p = memchr(text + at, '%', len - at))) {
		size_t end;
		size_t start = end = (size_t)(p - text);
		if (!is_percent(p, len - start)) {
			at = start + 1;
			continue;
		}
		while (start > at && !ends_word(text[start - 1]))
			start--;
		while (end < len && !ends_word(text[end]))
			end++;
		if (end - start < UINT32_MAX)
			see_mapped(VIEW_PERCENT, text, start, end, see, self);
		at = end;
	}
}

void view_each(const char *text, size_t len, const struct view_places *places, bool digits,
	       view_see *see, void *self)
{
	see_json(text, len, places, see, self);
	see_percent(text, len, see, self);
	if (digits)
		digits_each(text, len, see, self);
}

/* Where a byte of a view with marks came from. */
static size_t mapped_origin(const struct view *view, size_t at)
{
	size_t low = 0, high = view->mark_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (view->marks[middle].at <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? view->marks[low - 1].from + (at - view->marks[low - 1].at) : at;
}

void view_origin(const struct view *view, size_t start, size_t end, size_t *ret_start,
		 size_t *ret_end)
{
	if (view->kind == VIEW_HEX) {
		start *= 2;
		end *= 2;
	} else if (view->kind == VIEW_BASE64) {
		start = start * 8 / 6;
		end = (end * 8 + 5) / 6;
	} else {
		start = mapped_origin(view, start);
		end = mapped_origin(view, end);
	}
	*ret_start = view->origin + start;
	*ret_end = view->origin + end;
}

bool view_word_starts(const char *text, size_t start)
{
	const char *p = text + start;

	if (!start || !(is_alnum(p[-1]) || p[-1] == '_'))
		return true;
	if (start >= 2 && p[-2] == '\\' && strchr("nrtbfv", p[-1]))
		return true;
	if (start >= 3 && p[-3] == '%' && digits_is_hex(p[-2]) && digits_is_hex(p[-1]))
		return true;
	return (start >= 6 && p[-6] == '\\' && p[-5] == 'u') ||
	       (start >= 4 && p[-4] == '\\' && p[-3] == 'x');
}
