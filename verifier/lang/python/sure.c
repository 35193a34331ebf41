/*
 * Where Python's strings, comments and brackets are, said only of a text that every version of the
 * interpreter reads alike: the ends of f-strings were found otherwise before 3.12. Nothing is
 * guessed here; what is unusual is not sure, and honest programs of that kind are searched whole.
 */
#include "verifier/lang/python/python.h"

#include "base/mem.h"

#define OPEN_MAX 200

struct reading {
	struct lexer *l;
	char open[OPEN_MAX]; /* the brackets that are, innermost last */
	size_t depth;
};

/* Steps over a bracket; false where it is no pair with the one that is open. */
static bool take_bracket(struct reading *r)
{
	char c = lex_look(r->l, 0);

	lex_take(r->l, 1, LEX_CODE);
	if (strchr("([{", c)) {
		if (r->depth == OPEN_MAX)
			return false;
		r->open[r->depth++] = c;
		return true;
	}
	return r->depth && r->open[--r->depth] == (c == ')' ? '(' : c == ']' ? '[' : '{');
}

/* A string within a field of another: of its other quote, and plain. */
static bool take_inner_string(struct lexer *l)
{
	char quote = lex_look(l, 0);

	lex_take(l, 1, LEX_CODE);
	while (l->at < l->len && lex_look(l, 0) != quote) {
		if (strchr("\\\n{}\"'", lex_look(l, 0)))
			return false;
		lex_take(l, 1, LEX_CODE);
	}
	lex_take(l, 1, LEX_CODE);
	return true;
}

/* What is in an f-string between braces stays code. */
static bool take_field(struct reading *r, char quote)
{
	size_t depth = r->depth;

	while (r->l->at < r->l->len) {
		char c = lex_look(r->l, 0);

		if (c == quote || c == '\\' || c == '\n' || c == '#')
			return false;
		if (c && strchr("([{}])", c)) {
			if (!take_bracket(r) || r->depth < depth)
				return false;
			if (r->depth == depth)
				return true;
		} else if (c == '"' || c == '\'') {
			if (!take_inner_string(r->l))
				return false;
		} else {
			lex_take(r->l, 1, LEX_CODE);
		}
	}
	return false;
}

/* At the opening quote. */
static bool take_string(struct reading *r, bool format)
{
	struct lexer *l = r->l;
	char quote = lex_look(l, 0);
	bool triple = lex_look(l, 1) == quote && lex_look(l, 2) == quote;

	lex_take(l, triple ? 3 : 1, LEX_CODE);
	while (l->at < l->len) {
		char c = lex_look(l, 0), next = lex_look(l, 1);

		if (c == quote && (!triple || (next == quote && lex_look(l, 2) == quote))) {
			lex_take(l, triple ? 3 : 1, LEX_CODE);
			return true;
		}
		if (c == '\n' && !triple)
			return false;
		if (format && c == '\\' && next && strchr("{}N", next))
			return false;
		if (format && (c == '{' || c == '}') && next != c) {
			if (c == '}' || !take_field(r, quote))
				return false;
			continue;
		}
		lex_take(l, c == '\\' || (format && (c == '{' || c == '}')) ? 2 : 1, LEX_STRING);
	}
	return false;
}

/* A word, and the string after it, of which it must be a prefix. */
static bool take_word(struct reading *r)
{
	static const char *const prefixes[] = { "r", "b", "u", "f", "rb", "br", "rf", "fr" };
	char word[3] = "";
	size_t n = 0;

	for (; lex_is_word(lex_look(r->l, n)); n++)
		if (n < 2)
			word[n] = (char)tolower((unsigned char)lex_look(r->l, n));
	bool is_prefix = lex_look(r->l, n) == '"' || lex_look(r->l, n) == '\'';
	lex_take(r->l, n, LEX_CODE);
	if (!is_prefix)
		return true;
	for (size_t i = 0; n <= 2 && i < ARRAY_SIZE(prefixes); i++)
		if (!strcmp(word, prefixes[i]))
			return take_string(r, strchr(word, 'f') != NULL);
	return false;
}

/* An encoding is said in a comment of the first two lines. */
static bool says_encoding(const struct lexer *l)
{
	const char *first = memchr(l->s, '\n', l->len);
	const char *second =
		first ? memchr(first + 1, '\n', l->len - (size_t)(first + 1 - l->s)) : NULL;
	size_t len = second ? (size_t)(second - l->s) : l->len;

	return memmem(l->s, len, "coding", 6) != NULL;
}

bool sure_python(struct lexer *l)
{
	struct reading r = { .l = l };

	if (says_encoding(l) || memchr(l->s, '\0', l->len) || memchr(l->s, '\r', l->len) ||
	    memchr(l->s, '\f', l->len))
		return false;
	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '#') {
			lex_take_line(l, LEX_COMMENT);
		} else if (c == '"' || c == '\'') {
			if (!take_string(&r, false))
				return false;
		} else if (lex_is_word(c)) {
			if (!take_word(&r))
				return false;
		} else if (strchr("([{}])", c)) {
			if (!take_bracket(&r))
				return false;
		} else if (c == '\\' && lex_look(l, 1) != '\n') {
			return false;
		} else {
			lex_take(l, 1, LEX_CODE);
		}
	}
	return r.depth == 0;
}
