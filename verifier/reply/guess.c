/*
 * Telling code from prose, and one language from another, for blocks without a name and for replies
 * that are code and nothing else.
 *
 * Conservative on purpose: to take prose for code costs a wasted run and a misleading repair, to
 * take code for prose costs one more question. So no line at the left margin outside strings,
 * comments and brackets may be anything but a statement, and one at least must be unmistakable.
 */
#include "verifier/reply/choose.h"

#include "base/mem.h"
#include "base/regex.h"
#include "verifier/lang/lang.h"
#include "verifier/lang/lexer.h"

#include <string.h>

/* How far a line opens (or, below zero, closes) brackets. */
static long bracket_balance(const char *code, size_t len)
{
	long depth = 0;

	for (size_t i = 0; i < len; i++)
		depth += (code[i] == '(' || code[i] == '[' || code[i] == '{') -
			 (code[i] == ')' || code[i] == ']' || code[i] == '}');
	return depth;
}

/* A line that starts a statement at the left margin: not blank, not indented,
 * not inside a string that goes on over its start. */
static bool at_margin(const struct lexed *x, size_t start, size_t end)
{
	char c = x->text[start];

	if (start == end || c == ' ' || c == '\t' || c == '\r')
		return false;
	return !start || x->kinds[start - 1] != LEX_STRING;
}

static bool is_dialect(const struct lexed *x, const struct regex *strong, const struct regex *plain)
{
	struct error err = ERROR_INIT;
	size_t end, found = 0;
	long depth = 0;

	for (size_t start = 0; start < x->len; start = end + 1) {
		const char *line = x->text + start;
		bool statement = depth <= 0;

		const char *nl = memchr(line, '\n', x->len - start);
		end = nl ? (size_t)(nl - x->text) : x->len;
		depth += bracket_balance(x->code + start, end - start);
		if (!statement || !at_margin(x, start, end))
			continue;
		if (regex_search(strong, line, end - start, 0, NULL, 0, &err) == 1)
			found++;
		else if (regex_search(plain, line, end - start, 0, NULL, 0, &err) != 1)
			return false;
	}
	return found > 0;
}

static bool speaks(const struct lang *lang, const char *code, size_t len)
{
	struct error err = ERROR_INIT;
	cleanup_regex struct regex *strong = regex_compile(lang->reply.strong, 0, &err);
	cleanup_regex struct regex *plain = regex_compile(lang->reply.line, 0, &err);
	cleanup_lexed struct lexed x = { 0 };

	if (!strong || !plain)
		return false;
	lex_code(lang->name, code, len, &x);
	return is_dialect(&x, strong, plain);
}

const char *choose_guess(const char *code, size_t len)
{
	/* A program longer than this without a name is not worth guessing at. */
	if (!len || len > (size_t)256 << 10)
		return NULL;
	const struct lang *lang;
	for (size_t i = 0; (lang = lang_at(i)); i++)
		if (speaks(lang, code, len))
			return lang->name;
	return NULL;
}
