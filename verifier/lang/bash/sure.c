/*
 * Where bash's strings, documents and comments are, said only of a text that has none but the
 * usual forms of them: what quotes mean within other words is not followed here. It is no parser;
 * what is unusual is not sure.
 */
#include "verifier/lang/bash/bash.h"

#include "base/mem.h"

struct reading {
	struct lexer *l;
	bool begins;  /* whether a word may begin here */
	size_t depth; /* of parentheses */
	char end[64]; /* of a document that begins behind this line; or "" */
	bool strips;  /* tabs before it */
};

/* Names, numbers and signs, up to the brace. */
static bool take_braces(struct lexer *l)
{
	lex_take(l, 2, LEX_CODE);
	while (l->at < l->len && lex_look(l, 0) != '}') {
		char c = lex_look(l, 0);

		if (!lex_is_word(c) && !strchr("#%/:^,@!*?+=.[]$~-", c))
			return false;
		lex_take(l, 1, LEX_CODE);
	}
	lex_take(l, 1, LEX_CODE);
	return true;
}

static bool take_single(struct lexer *l)
{
	const char *end = memchr(l->s + l->at + 1, '\'', l->len - l->at - 1);

	if (!end)
		return false;
	lex_take(l, 1, LEX_CODE);
	lex_take(l, (size_t)(end - l->s) - l->at, LEX_STRING);
	lex_take(l, 1, LEX_CODE);
	return true;
}

static bool take_double(struct reading *r);

/* A command within a string: without what needs more of the grammar. */
static bool take_command(struct reading *r)
{
	struct lexer *l = r->l;
	size_t depth = 0;

	if (++l->nesting > NESTING_MAX)
		return false;
	for (lex_take(l, 1, LEX_CODE); l->at < l->len;) {
		char c = lex_look(l, 0);

		if (strchr("#`\\", c) || (c == '<' && lex_look(l, 1) == '<') ||
		    (c == '$' && strchr("'\"", lex_look(l, 1))))
			return false;
		if (c == 'c' && l->len - l->at >= 4 && !memcmp(l->s + l->at, "case", 4))
			return false;
		if (c == '"' || c == '\'') {
			if (!(c == '"' ? take_double(r) : take_single(l)))
				return false;
			continue;
		}
		if (c == '$' && lex_look(l, 1) == '{') {
			if (!take_braces(l))
				return false;
			continue;
		}
		lex_take(l, 1, LEX_CODE);
		if (c == '(') {
			depth++;
		} else if (c == ')' && depth-- == 0) {
			l->nesting--;
			return true;
		}
	}
	return false;
}

static bool take_double(struct reading *r)
{
	struct lexer *l = r->l;

	for (lex_take(l, 1, LEX_CODE); l->at < l->len && lex_look(l, 0) != '"';) {
		char c = lex_look(l, 0), next = lex_look(l, 1);

		if (c == '`')
			return false;
		if (c == '$' && next == '(') {
			lex_take(l, 1, LEX_CODE);
			if (!take_command(r))
				return false;
		} else if (c == '$' && next == '{') {
			if (!take_braces(l))
				return false;
		} else {
			lex_take(l, c == '\\' ? 2 : 1, LEX_STRING);
		}
	}
	bool is_closed = l->at < l->len;
	lex_take(l, 1, LEX_CODE);
	return is_closed;
}

/* What ends the document, whose lines are looked at as code is. */
static bool take_document(struct reading *r)
{
	struct lexer *l = r->l;
	size_t n = 0;

	lex_take(l, 2, LEX_CODE);
	r->strips = lex_look(l, 0) == '-';
	lex_take(l, r->strips, LEX_CODE);
	while (lex_look(l, 0) == ' ')
		lex_take(l, 1, LEX_CODE);
	char quote = lex_look(l, 0) == '\'' || lex_look(l, 0) == '"' ? lex_look(l, 0) : '\0';
	lex_take(l, quote != '\0', LEX_CODE);
	for (; lex_is_word(lex_look(l, 0)) && n + 1 < sizeof(r->end); n++) {
		r->end[n] = lex_look(l, 0);
		lex_take(l, 1, LEX_CODE);
	}
	r->end[n] = '\0';
	if (quote && lex_look(l, 0) != quote)
		return false;
	lex_take(l, quote != '\0', LEX_CODE);
	return n && strchr(" \t\n;|>)&", lex_look(l, 0));
}

static bool take_lines(struct reading *r)
{
	struct lexer *l = r->l;
	size_t n = strlen(r->end);

	while (l->at < l->len) {
		while (r->strips && lex_look(l, 0) == '\t')
			lex_take(l, 1, LEX_CODE);
		size_t start = l->at;
		lex_take_line(l, LEX_CODE);
		bool is_end = l->at - start == n && !memcmp(l->s + start, r->end, n);
		lex_take(l, 1, LEX_CODE);
		if (is_end) {
			r->end[0] = '\0';
			return true;
		}
	}
	return false;
}

/* What has a second letter to be told by. */
static bool take_pair(struct reading *r)
{
	struct lexer *l = r->l;
	char c = lex_look(l, 0), next = lex_look(l, 1);

	if (c == '\\') {
		lex_take(l, 2, LEX_CODE);
		return true;
	}
	if (c == '<' && next == '<' && lex_look(l, 2) == '<') {
		lex_take(l, 3, LEX_CODE);
		return true;
	}
	if (c == '<' && next == '<')
		return !r->depth && !r->end[0] && take_document(r);
	if (c == '$' && next == '{')
		return take_braces(l);
	lex_take(l, 1, LEX_CODE);
	if (c == '(')
		r->depth++;
	else if (c == ')' && r->depth)
		r->depth--;
	return !(c == '$' && (next == '\'' || next == '"'));
}

bool sure_bash(struct lexer *l)
{
	struct reading r = { .l = l, .begins = true };

	if (memchr(l->s, '\0', l->len) || memchr(l->s, '\r', l->len) || memchr(l->s, '`', l->len))
		return false;
	while (l->at < l->len) {
		char c = lex_look(l, 0);
		bool is_read = true;

		if (c == '#' && r.begins) {
			/* Behind these it is not one in every version. */
			if (l->at && strchr("<>(", l->s[l->at - 1]))
				return false;
			lex_take_line(l, LEX_COMMENT);
		} else if (c == '\'') {
			is_read = take_single(l);
		} else if (c == '"') {
			is_read = take_double(&r);
		} else if (c == '\n' && r.end[0]) {
			lex_take(l, 1, LEX_CODE);
			is_read = take_lines(&r);
		} else {
			is_read = take_pair(&r);
		}
		if (!is_read)
			return false;
		r.begins = strchr(" \t\n;&|()<>", c) != NULL;
	}
	return !r.end[0];
}
