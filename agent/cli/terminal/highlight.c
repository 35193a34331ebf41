/*
 * Code in colours: where a span ends and what it is, by the language's lexer. It returns styles
 * and writes nothing.
 */
#include "agent/cli/terminal/highlight.h"

#include "sandbox/sandbox.h"
#include "verifier/lang/lang.h"

#include <ctype.h>
#include <string.h>

static const char *const no_words[] = { NULL };

void highlight_start(struct highlight *ret, const char *lang, const char *code, size_t len)
{
	const struct language *language = lang ? language_find(lang) : NULL;
	const struct lang *row = language ? lang_find(language->name) : NULL;

	*ret = (struct highlight){ .code = code, .len = len, .keywords = no_words };
	if (!row)
		return;
	lex_code(row->name, code, len, &ret->lexed);
	ret->keywords = row->keywords;
}

void highlight_release(struct highlight *h)
{
	if (h->lexed.kinds)
		lexed_release(&h->lexed);
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static enum term_style word_style(const struct highlight *h, const char *word, size_t len)
{
	if (isdigit((unsigned char)*word))
		return TERM_YELLOW;
	for (const char *const *k = h->keywords; *k; k++)
		if (strlen(*k) == len && !memcmp(*k, word, len))
			return TERM_BLUE;
	return TERM_PLAIN;
}

/* Same kind on, past the rest of a character whatever kind that is called. */
static size_t kind_end(const struct highlight *h, size_t at)
{
	unsigned char kind = h->lexed.kinds[at];

	for (at++; at < h->len; at++)
		if (h->lexed.kinds[at] != kind && ((unsigned char)h->code[at] & 0xc0) != 0x80)
			break;
	return at;
}

enum term_style highlight_next(const struct highlight *h, size_t at, size_t *ret_end)
{
	size_t end = at + 1;

	*ret_end = h->len;
	if (!h->lexed.kinds)
		return TERM_PLAIN;
	size_t limit = kind_end(h, at);
	*ret_end = limit;
	if (h->lexed.kinds[at] == LEX_COMMENT)
		return TERM_DIM;
	if (h->lexed.kinds[at] == LEX_STRING)
		return TERM_GREEN;
	while (end < limit && is_word(h->code[end]) == is_word(h->code[at]))
		end++;
	*ret_end = end;
	return is_word(h->code[at]) ? word_style(h, h->code + at, end - at) : TERM_PLAIN;
}
