#include "verifier/lexer.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Expressions inside strings inside expressions ... deeper is called code. */
#define NESTING_MAX 32

struct lexer {
	const char *s;
	size_t len, at;
	unsigned char *kinds;
	int nesting;
};

/* Lexes code up to `until`, or to the end when that is NUL. */
#define LEX_FN(name) void (*name)(struct lexer *l, char until)

static char look(const struct lexer *l, size_t ahead)
{
	return l->at + ahead < l->len ? l->s[l->at + ahead] : '\0';
}

/* Marks the next n bytes and steps over them. */
static void take(struct lexer *l, size_t n, enum lex_kind kind)
{
	if (n > l->len - l->at)
		n = l->len - l->at;
	memset(l->kinds + l->at, (int)kind, n);
	l->at += n;
}

static void take_line(struct lexer *l, enum lex_kind kind)
{
	const char *nl = memchr(l->s + l->at, '\n', l->len - l->at);

	take(l, nl ? (size_t)(nl - l->s) - l->at : l->len - l->at, kind);
}

/* An expression in a string: `open` bytes, code up to `until`, that too. */
static void take_nested(struct lexer *l, size_t open, LEX_FN(lex), char until)
{
	take(l, open, LEX_CODE);
	if (l->nesting >= NESTING_MAX)
		return;
	l->nesting++;
	lex(l, until);
	l->nesting--;
}

/* Whether c ends the nested expression; brackets of its kind are counted. */
static bool ends_nested(char c, char until, int *depth)
{
	if (!until)
		return false;
	if (c == '{' || c == '(')
		++*depth;
	else if (c == '}' || c == ')')
		return (*depth)-- == 0 && c == until;
	return false;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* --- Python --- */

static void lex_python(struct lexer *l, char until);

/* At the opening quote. */
static void python_string(struct lexer *l, bool format)
{
	char quote = look(l, 0);
	bool triple = look(l, 1) == quote && look(l, 2) == quote;

	take(l, triple ? 3 : 1, LEX_CODE);
	while (l->at < l->len) {
		char c = look(l, 0);

		if (c == '\\') {
			take(l, 2, LEX_STRING);
		} else if (c == quote &&
			   (!triple || (look(l, 1) == quote && look(l, 2) == quote))) {
			take(l, triple ? 3 : 1, LEX_CODE);
			return;
		} else if (c == '\n' && !triple) {
			return;
		} else if (format && c == '{' && look(l, 1) == '{') {
			take(l, 2, LEX_STRING);
		} else if (format && c == '{') {
			take_nested(l, 1, lex_python, '}');
		} else {
			take(l, 1, LEX_STRING);
		}
	}
}

/* A word, and the string after it when the word is a string prefix. */
static void python_word(struct lexer *l)
{
	size_t n = 0, i;
	bool prefix, format = false;

	while (is_word(look(l, n)))
		n++;
	prefix = n <= 2 && (look(l, n) == '"' || look(l, n) == '\'');
	for (i = 0; prefix && i < n; i++) {
		char c = (char)tolower((unsigned char)look(l, i));

		prefix = strchr("rbfu", c) != NULL;
		format = format || c == 'f';
	}
	take(l, n, LEX_CODE);
	if (prefix)
		python_string(l, format);
}

static void lex_python(struct lexer *l, char until)
{
	int depth = 0;

	while (l->at < l->len) {
		char c = look(l, 0);

		if (until && c == '\n' && l->nesting == 1 && depth == 0) {
			return;		/* an unclosed brace of a one-line f-string */
		} else if (c == '#' && !until) {
			take_line(l, LEX_COMMENT);
		} else if (c == '"' || c == '\'') {
			python_string(l, false);
		} else if (is_word(c)) {
			python_word(l);
		} else {
			take(l, 1, LEX_CODE);
			if (ends_nested(c, until, &depth))
				return;
		}
	}
}

/* --- JavaScript --- */

static void lex_javascript(struct lexer *l, char until);

static void javascript_string(struct lexer *l)
{
	char quote = look(l, 0);

	take(l, 1, LEX_CODE);
	while (l->at < l->len) {
		char c = look(l, 0);

		if (c == '\\') {
			take(l, 2, LEX_STRING);
		} else if (c == quote) {
			take(l, 1, LEX_CODE);
			return;
		} else if (c == '\n' && quote != '`') {
			return;
		} else if (quote == '`' && c == '$' && look(l, 1) == '{') {
			take_nested(l, 2, lex_javascript, '}');
		} else {
			take(l, 1, LEX_STRING);
		}
	}
}

static void block_comment(struct lexer *l)
{
	const char *end = memmem(l->s + l->at + 2, l->len - l->at - 2, "*/", 2);

	take(l, end ? (size_t)(end - l->s) + 2 - l->at : l->len - l->at, LEX_COMMENT);
}

/* A slash starts a regular expression where no value can have ended. */
static bool regex_may_start(const struct lexer *l)
{
	static const char *const words[] = { "return", "typeof", "case", "in", "of", "delete",
					     "void", "throw", "do", "else" };
	size_t end = l->at, start, i;

	while (end && isspace((unsigned char)l->s[end - 1]))
		end--;
	if (!end)
		return true;
	if (!is_word(l->s[end - 1]) && l->s[end - 1] != '$')
		return !strchr(")]}\"'`", l->s[end - 1]);
	for (start = end; start && is_word(l->s[start - 1]); start--)
		;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == end - start && !memcmp(words[i], l->s + start, end - start))
			return true;
	return false;
}

static void javascript_regex(struct lexer *l)
{
	bool class = false;

	take(l, 1, LEX_CODE);
	while (l->at < l->len && look(l, 0) != '\n') {
		char c = look(l, 0);

		if (c == '\\') {
			take(l, 2, LEX_STRING);
			continue;
		}
		if (c == '[' || c == ']')
			class = c == '[';
		if (c == '/' && !class) {
			take(l, 1, LEX_CODE);
			return;
		}
		take(l, 1, LEX_STRING);
	}
}

static void lex_javascript(struct lexer *l, char until)
{
	int depth = 0;

	while (l->at < l->len) {
		char c = look(l, 0);

		if (c == '/' && look(l, 1) == '/') {
			take_line(l, LEX_COMMENT);
		} else if (c == '/' && look(l, 1) == '*') {
			block_comment(l);
		} else if (c == '"' || c == '\'' || c == '`') {
			javascript_string(l);
		} else if (c == '/' && regex_may_start(l)) {
			javascript_regex(l);
		} else {
			take(l, 1, LEX_CODE);
			if (ends_nested(c, until, &depth))
				return;
		}
	}
}

/* --- bash --- */

static void lex_bash(struct lexer *l, char until);

static void bash_quoted(struct lexer *l)
{
	char quote = look(l, 0);

	take(l, 1, LEX_CODE);
	while (l->at < l->len) {
		char c = look(l, 0);

		if (c == '\\' && quote == '"') {
			take(l, 2, LEX_STRING);
		} else if (c == quote) {
			take(l, 1, LEX_CODE);
			return;
		} else if (quote == '"' && c == '$' && look(l, 1) == '(') {
			take_nested(l, 2, lex_bash, ')');
		} else {
			take(l, 1, LEX_STRING);
		}
	}
}

/* The word after << names the end of the document; quotes around it fall. */
static size_t heredoc_word(struct lexer *l, char *word, size_t size, bool *strip)
{
	size_t n = 0, at = 2;
	char quote = '\0';

	*strip = look(l, at) == '-';
	at += *strip;
	while (look(l, at) == ' ' || look(l, at) == '\t')
		at++;
	if (look(l, at) == '\'' || look(l, at) == '"')
		quote = look(l, at++);
	while ((is_word(look(l, at)) || look(l, at) == '-') && n + 1 < size)
		word[n++] = look(l, at++);
	word[n] = '\0';
	take(l, at + (quote && look(l, at) == quote), LEX_CODE);
	return n;
}

static void bash_heredoc(struct lexer *l)
{
	char word[64];
	bool strip;
	size_t n = heredoc_word(l, word, sizeof(word), &strip), line, end, start = l->at;

	if (!n)
		return;
	take_line(l, LEX_CODE);		/* the rest of the command */
	while (l->at < l->len) {
		take(l, 1, LEX_CODE);	/* the newline */
		line = l->at;
		while (strip && look(l, line - l->at) == '\t')
			line++;
		take_line(l, LEX_STRING);
		end = l->at;
		if (end >= line && end - line == n && !memcmp(l->s + line, word, n))
			return;
	}
	/* Never closed: more likely a shift in arithmetic than a document. */
	l->at = start;
	take(l, l->len - start, LEX_CODE);
}

static bool bash_comment_may_start(const struct lexer *l)
{
	return !l->at || strchr(" \t\n;&|(", l->s[l->at - 1]);
}

static void lex_bash(struct lexer *l, char until)
{
	int depth = 0;

	while (l->at < l->len) {
		char c = look(l, 0);

		if (c == '\\') {
			take(l, 2, LEX_CODE);
		} else if (c == '#' && bash_comment_may_start(l)) {
			take_line(l, LEX_COMMENT);
		} else if (c == '"' || c == '\'') {
			bash_quoted(l);
		} else if (c == '<' && look(l, 1) == '<' && look(l, 2) != '<' && !until) {
			bash_heredoc(l);
			if (look(l, 0) == '<')
				take(l, 1, LEX_CODE);
		} else if (c == '<' && look(l, 1) == '<' && look(l, 2) == '<') {
			take(l, 3, LEX_CODE);
		} else {
			take(l, 1, LEX_CODE);
			if (ends_nested(c, until, &depth))
				return;
		}
	}
}

/* --- all --- */

static const struct {
	const char *lang;
	LEX_FN(lex);
} lexers[] = {
	{ "python", lex_python },
	{ "javascript", lex_javascript },
	{ "bash", lex_bash },
};

static void make_views(struct lexed *x, const char *code)
{
	size_t i, depth = 0;

	x->code = mem_strndup(code, x->len);
	x->text = mem_strndup(code, x->len);
	for (i = 0; i < x->len; i++) {
		if (x->kinds[i] == LEX_CODE) {
			if (strchr("([{", code[i]) && code[i] && ++depth > x->depth)
				x->depth = depth;
			else if (depth && strchr(")]}", code[i]) && code[i])
				depth--;
			continue;
		}
		if (code[i] == '\n')
			continue;
		x->code[i] = ' ';
		if (x->kinds[i] == LEX_COMMENT)
			x->text[i] = ' ';
	}
}

void lex_code(const char *lang, const char *code, size_t len, struct lexed *ret)
{
	struct lexed x = { .len = len };
	struct lexer l = { .s = code, .len = len };
	size_t i;

	x.kinds = mem_alloc(len);
	l.kinds = x.kinds;
	for (i = 0; i < ARRAY_SIZE(lexers); i++)
		if (!strcmp(lexers[i].lang, lang))
			lexers[i].lex(&l, '\0');
	make_views(&x, code);
	*ret = x;
}

void lexed_release(struct lexed *x)
{
	free(x->kinds);
	free(x->code);
	free(x->text);
	*x = (struct lexed){ 0 };
}
