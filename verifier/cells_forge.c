/*
 * Could a cell decide what a program after it seems to do (cells.h)? Told from texts alone: no
 * guest is asked. A text that could be read in two ways is searched as it is, without its comments,
 * and without what is in its strings: neither hides a word, or parts two that belong together.
 */
#include "verifier/cells.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "verifier/lang/lang.h"
#include "verifier/lang/lexer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_SHOWN  ((size_t)60)
#define TOGETHER_MAX ((size_t)64 << 20)
/* Of those that could together only: all are searched again for each. */

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

/* A cell, as its patterns see it. */
enum { IN_CODE, IN_TEXT, IN_FLAT, VIEWS };
struct views {
	const char *form[VIEWS]; /* of a text that can be read in one way only */
	const char *any[VIEWS];	 /* of any other: as it is, and as it may be meant */
	struct lexed x;
	char *flat;
	size_t len;
	bool is_sure;
};

/* What is in brackets is none of it; these are in pairs. */
static char *outside_brackets(const struct lexed *x)
{
	char *flat = mem_strndup(x->code, x->len);
	size_t depth = 0;

	for (size_t i = 0; i < x->len; i++) {
		char c = flat[i];

		if (c && strchr(")]}", c) && depth)
			depth--;
		if (depth)
			flat[i] = ' ';
		if (c && strchr("([{", c))
			depth++;
	}
	return flat;
}

static void see(const struct lang *lang, const struct cell *cell, struct views *v)
{
	*v = (struct views){ .len = cell->len };
	v->is_sure = lex_sure(lang->name, cell->code, cell->len, &v->x);
	if (!v->is_sure) {
		lexed_release(&v->x);
		lex_code(lang->name, cell->code, cell->len, &v->x);
	}
	join_lines(v->x.text, v->len);
	join_lines(v->x.code, v->len);
	v->flat = v->is_sure ? outside_brackets(&v->x) : NULL;
	v->any[0] = cell->code;
	v->any[1] = v->form[IN_TEXT] = v->x.text;
	v->any[2] = v->form[IN_CODE] = v->x.code;
	v->form[IN_FLAT] = v->flat;
}

static void views_release(struct views *v)
{
	lexed_release(&v->x);
	free(v->flat);
}
#define cleanup_views __attribute__((cleanup(views_release)))

/* What is looked for in a language: patterns by where that is, and what none can follow. */
struct hunt {
	const struct lang_forges *forges;
	struct regex **re[VIEWS];
	size_t count[VIEWS];
	struct regex *loads;
	struct hunt *next;
};

static struct hunt *make_hunt(const struct lang_forges *forges)
{
	const char *const *const lists[VIEWS] = { forges->code, forges->text, forges->flat };
	struct hunt *h = mem_alloc(sizeof(*h));
	struct error ignored = ERROR_INIT;

	*h = (struct hunt){ .forges = forges };
	h->loads = forges->loads ? regex_compile(forges->loads, REGEX_ICASE, &ignored) : NULL;
	for (size_t i = 0; i < VIEWS; i++) {
		size_t n = 0;

		while (lists[i] && lists[i][n])
			n++;
		h->re[i] = mem_array(NULL, n, sizeof(struct regex *));
		for (h->count[i] = 0; h->count[i] < n; h->count[i]++)
			h->re[i][h->count[i]] =
				regex_compile(lists[i][h->count[i]], REGEX_MULTILINE, &ignored);
	}
	return h;
}

/* Made once of each language and kept, for it never changes and takes as long to make as an
 * interpreter to start. Any thread may search in it. */
static const struct hunt *hunt_of(const struct lang_forges *forges)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	static struct hunt *made;

	pthread_mutex_lock(&making);
	struct hunt *h = made;
	while (h && h->forges != forges)
		h = h->next;
	if (!h) {
		h = make_hunt(forges);
		h->next = made;
		made = h;
	}
	pthread_mutex_unlock(&making);
	return h;
}

/* Whether re is in a form of them, all of the same length. One that cannot be searched could be
 * anything, but for all cells together (is_long): each was searched already. */
static bool is_in(const struct regex *re, const struct views *v, size_t view, bool is_long,
		  struct regex_span *ret)
{
	const char *const *forms = v->is_sure ? &v->form[view] : v->any;
	struct error err = ERROR_INIT;

	*ret = (struct regex_span){ .set = false };
	for (size_t i = 0; i < (v->is_sure ? 1 : VIEWS); i++) {
		int rc = re ? regex_search(re, forms[i], v->len, 0, ret, 1, &err) : 1;

		if (rc > 0 || (rc < 0 && !is_long))
			return true;
	}
	return false;
}

static bool is_forged(const struct hunt *h, const struct views *v, bool is_long,
		      struct regex_span *ret)
{
	for (size_t i = 0; i < VIEWS; i++)
		for (size_t j = 0; j < h->count[i]; j++)
			if (is_in(h->re[i][j], v, i, is_long, ret))
				return true;
	for (size_t i = 0; h->forges->hands_on && i < (v->is_sure ? 1 : VIEWS); i++)
		if (h->forges->hands_on(v->is_sure ? v->form[IN_CODE] : v->any[i], v->len,
					&ret->start, &ret->end))
			return true;
	return false;
}

static char *forge_of(const struct lang *lang, const struct hunt *h, const struct cell *cell,
		      size_t number)
{
	cleanup_views struct views v;
	struct regex_span span;

	see(lang, cell, &v);
	return is_forged(h, &v, false, &span) ? found(number, cell->code, span) : NULL;
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
static char *forge_together(const struct lang *lang, const struct hunt *h, const struct cell *list,
			    size_t count, size_t *ret_which)
{
	cleanup_buf struct buf all = BUF_INIT(TOGETHER_MAX);

	cleanup_free size_t *ends = mem_array(NULL, count, sizeof(*ends));
	for (size_t i = 0; i < count; i++) {
		add_once(&all, &list[i]);
		ends[i] = all.len;
	}
	const struct cell one = { .code = all.data, .len = all.len };
	cleanup_views struct views v;
	see(lang, &one, &v);
	struct regex_span span;
	if (!is_forged(h, &v, true, &span))
		return NULL;
	size_t number = 0;
	while (number + 1 < count && ends[number] < span.end)
		number++;
	if (number && span.start < ends[number - 1])
		span.start = ends[number - 1];
	*ret_which = number;
	return found(number + 1, one.code, span);
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

	if (!count)
		return NULL;
	if (!lang || !lang->harness.forges.code)
		return mem_printf("nothing is known of what a %s program leaves", language->name);
	const struct hunt *h = hunt_of(&lang->harness.forges);
	char *why = not_text(list, count);
	for (size_t i = 0; i < count && !why; i++)
		why = forge_of(lang, h, &list[i], i + 1);
	size_t which;
	if (!why && count > 1)
		why = forge_together(lang, h, list, count, &which);
	return why;
}

bool cells_load(const struct language *language, const char *path)
{
	const struct lang *lang = lang_find(language->name);
	const struct regex *re =
		lang && lang->harness.forges.loads ? hunt_of(&lang->harness.forges)->loads : NULL;
	struct error ignored = ERROR_INIT;

	return re && regex_search(re, path, strlen(path), 0, NULL, 0, &ignored) != 0;
}

/* --- without those that could --- */

void cells_leave_out(const struct language *language, struct cell *list, size_t count)
{
	const struct lang *lang = lang_find(language->name);
	const struct hunt *h =
		lang && lang->harness.forges.code ? hunt_of(&lang->harness.forges) : NULL;

	for (size_t i = 0; i < count; i++) {
		cleanup_free char *why = NULL;

		if (h && utf8_valid(list[i].code, list[i].len))
			why = forge_of(lang, h, &list[i], i + 1);
		if (!h || why || !utf8_valid(list[i].code, list[i].len))
			list[i].len = 0;
	}
	while (h && count > 1) {
		size_t which;
		cleanup_free char *why = forge_together(lang, h, list, count, &which);

		if (!why)
			return;
		list[which].len = 0;
	}
}
