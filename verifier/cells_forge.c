/*
 * Could a cell decide what a program after it seems to do (cells.h)? Told from texts alone: no
 * guest is asked. A text is searched as it is, without its comments, and without what is in its
 * strings: neither hides a word, or parts two that belong together.
 */
#include "verifier/cells.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"
#include "verifier/lang/lexer.h"

#include <stdlib.h>
#include <string.h>

#define WORDS_SHOWN  ((size_t)60)
#define TOGETHER_MAX ((size_t)64 << 20)

static char *found(size_t number, const char *code, struct regex_span span)
{
	cleanup_buf struct buf words = BUF_INIT(4 * WORDS_SHOWN);
	size_t from = span.start, to = span.end;

	while (from < to && strchr(" \t\r\n", code[from]))
		from++;
	while (to > from && strchr(" \t\r\n", code[to - 1]))
		to--;
	to = to - from > WORDS_SHOWN ? from + WORDS_SHOWN : to;
	utf8_repair(&words, code + from, to - from);
	return mem_printf("cell %zu has \"%s\"", number, words.data ? words.data : "");
}

/* A line that goes on in the next is one. */
static void join_lines(char *text, size_t len)
{
	for (size_t i = 0; i + 1 < len; i++)
		if (text[i] == '\\' && text[i + 1] == '\n')
			text[i] = text[i + 1] = ' ';
}

/* Whether re is in one of the forms of a cell, all of them of the same length. One that cannot be
 * searched could be anything, but for all of them together (is_long): each was searched already. */
static bool is_in(const struct regex *re, const struct cell *cell, const struct lexed *x,
		  bool is_long, struct regex_span *ret)
{
	const char *const forms[] = { cell->code, x->text, x->code };
	struct error err = ERROR_INIT;

	*ret = (struct regex_span){ .set = false };
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		int rc = re ? regex_search(re, forms[i], cell->len, 0, ret, 1, &err) : 1;

		if (rc > 0 || (rc < 0 && !is_long))
			return true;
	}
	return false;
}

static char *forge_of(const struct lang *lang, struct regex *const *patterns,
		      const struct cell *cell, size_t number)
{
	cleanup_lexed struct lexed x;
	struct regex_span span;

	lex_code(lang->name, cell->code, cell->len, &x);
	join_lines(x.text, x.len);
	join_lines(x.code, x.len);
	for (size_t i = 0; lang->harness.forges[i]; i++)
		if (is_in(patterns[i], cell, &x, false, &span))
			return found(number, cell->code, span);
	return NULL;
}

/* What was imported once is not imported again: a pattern looks over all that follows each. */
static void add_once(struct buf *all, const struct cell *cell)
{
	for (size_t at = 0, len; at < cell->len; at += len) {
		const char *line = cell->code + at, *end = memchr(line, '\n', cell->len - at);

		len = end ? (size_t)(end - line) + 1 : cell->len - at;
		if (len > 7 && !memcmp(line, "import ", 7) && all->len &&
		    memmem(all->data, all->len, line, len))
			continue;
		buf_add(all, line, len);
	}
	buf_addch(all, '\n');
}

/* What one binds another may use: all of them as one text, and which of them is meant. */
static char *forge_together(const struct lang *lang, struct regex *const *patterns,
			    const struct cell *list, size_t count)
{
	cleanup_buf struct buf all = BUF_INIT(TOGETHER_MAX);
	cleanup_lexed struct lexed x;

	cleanup_free size_t *ends = mem_array(NULL, count, sizeof(*ends));
	for (size_t i = 0; i < count; i++) {
		add_once(&all, &list[i]);
		ends[i] = all.len;
	}
	const struct cell one = { .code = all.data, .len = all.len };
	struct regex_span span;
	lex_code(lang->name, one.code, one.len, &x);
	join_lines(x.text, x.len);
	join_lines(x.code, x.len);
	for (size_t i = 0; lang->harness.forges[i]; i++) {
		if (!is_in(patterns[i], &one, &x, true, &span))
			continue;
		size_t number = 0;
		while (number + 1 < count && ends[number] < span.end)
			number++;
		if (number && span.start < ends[number - 1])
			span.start = ends[number - 1];
		return found(number + 1, one.code, span);
	}
	return NULL;
}

/* Bytes that are no text end what a pattern can look over. */
static char *not_text(const struct cell *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!utf8_valid(list[i].code, list[i].len))
			return mem_printf("cell %zu has bytes that are no UTF-8", i + 1);
	return NULL;
}

char *cells_forge(const struct language *language, const struct cell *list, size_t count)
{
	const struct lang *lang = lang_find(language->name);
	const char *const *pattern = lang ? lang->harness.forges : NULL;
	struct error ignored = ERROR_INIT;
	char *why = NULL;
	size_t n = 0;

	if (!count)
		return NULL;
	if (!pattern)
		return mem_printf("nothing is known of what a %s program leaves", language->name);
	while (pattern[n])
		n++;
	struct regex **patterns = mem_array(NULL, n, sizeof(struct regex *));
	for (size_t i = 0; i < n; i++)
		patterns[i] = regex_compile(pattern[i], REGEX_MULTILINE, &ignored);
	why = not_text(list, count);
	for (size_t i = 0; i < count && !why; i++)
		why = forge_of(lang, patterns, &list[i], i + 1);
	if (!why && count > 1)
		why = forge_together(lang, patterns, list, count);
	for (size_t i = 0; i < n; i++)
		regex_free(patterns[i]);
	free(patterns);
	return why;
}
