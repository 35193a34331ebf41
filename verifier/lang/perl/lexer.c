/*
 * Perl's quotes, patterns, documents, pod and comments. Only perl can parse Perl: where
 * a slash is a division and where it begins a pattern is told by what stands before it,
 * and what stays open is called code.
 */
#include "verifier/lang/perl/perl.h"

#include "base/mem.h"

#define DOCUMENTS_MAX 8

struct document {
	char word[64];
	bool plain;    /* nothing in it is interpolated */
	bool indented; /* the end may be */
};

/* Those whose lines follow this one. The end of each is looked for to the end of the
 * code: after so many that had none, no more are believed. */
#define MISSES_MAX 16
struct documents {
	struct document list[DOCUMENTS_MAX];
	size_t count, misses;
};

static char closing(char open)
{
	static const char pairs[] = "()[]{}<>";
	const char *at = open ? strchr(pairs, open) : NULL;

	return at && (at - pairs) % 2 == 0 ? at[1] : open;
}

/* In a text up to `end`, which may hold expressions: "@{[ f() ]}", "${\ f()}". */
static void interpolated(struct lexer *l, size_t end)
{
	size_t len = l->len;

	l->len = end;
	while (l->at < end) {
		char c = lex_look(l, 0);

		if (c == '\\')
			lex_take(l, 2, LEX_STRING);
		else if ((c == '$' || c == '@') && lex_look(l, 1) == '{')
			lex_take_nested(l, 2, lex_perl, '}');
		else
			lex_take(l, 1, LEX_STRING);
	}
	l->len = len;
}

/* Where what was opened before `at` is closed, or the end of the code. */
static size_t find_close(const struct lexer *l, size_t at, char open, char close)
{
	size_t depth = 0;

	for (; at < l->len; at++) {
		char c = l->s[at];

		if (c == '\\')
			at++;
		else if (c == close && !depth)
			return at;
		else if (open != close && c == open)
			depth++;
		else if (c == close)
			depth--;
	}
	return l->len;
}

static void take_text(struct lexer *l, size_t end, bool plain)
{
	if (plain)
		lex_take(l, end - l->at, LEX_STRING);
	else
		interpolated(l, end);
}

/* At the delimiter: the text, and what closes it unless a second text follows. */
static void delimited(struct lexer *l, bool plain)
{
	char open = lex_look(l, 0), close = closing(open);

	lex_take(l, 1, LEX_CODE);
	take_text(l, find_close(l, l->at, open, close), plain);
	lex_take(l, 1, LEX_CODE);
}

static void skip_space(struct lexer *l)
{
	while (l->at < l->len && isspace((unsigned char)lex_look(l, 0)))
		lex_take(l, 1, LEX_CODE);
}

/* The second text of s, tr and y: code when the flags of s have an e. */
static void second(struct lexer *l, char open, bool is_s)
{
	char close = closing(open);

	if (open != close) {
		skip_space(l);
		open = lex_look(l, 0);
		close = closing(open);
		lex_take(l, 1, LEX_CODE);
	}
	size_t end = find_close(l, l->at, open, close);
	bool code = false;
	for (size_t flag = end + 1; flag < l->len && isalpha((unsigned char)l->s[flag]); flag++)
		code = code || l->s[flag] == 'e';
	if (is_s && code && l->nesting < NESTING_MAX) {
		size_t len = l->len;

		l->len = end;
		l->nesting++;
		lex_perl(l, '\0');
		l->nesting--;
		l->len = len;
	} else {
		take_text(l, end, !is_s || close == '\'');
	}
	lex_take(l, 1, LEX_CODE);
}

/* --- words --- */

/* Texts that begin with a word: whether nothing in it is interpolated, and its parts. */
static const struct quote {
	const char *word;
	bool plain;
	int parts;
} quotes[] = {
	{ "q", true, 1 },   { "qw", true, 1 }, { "qq", false, 1 },
	{ "qx", false, 1 }, { "m", false, 1 }, { "qr", false, 1 },
	{ "s", false, 2 },  { "tr", true, 2 }, { "y", true, 2 },
};

static const struct quote *quote_of(const char *word, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(quotes); i++)
		if (strlen(quotes[i].word) == len && !memcmp(quotes[i].word, word, len))
			return &quotes[i];
	return NULL;
}

/* The last byte before `at` that is no blank; NUL at the start. */
static char before(const struct lexer *l, size_t at, size_t *ret)
{
	while (at && (l->s[at - 1] == ' ' || l->s[at - 1] == '\t'))
		at--;
	*ret = at;
	return at ? l->s[at - 1] : '\0';
}

/* A member, a method, a key or a variable is no word of the language. */
static bool is_name(const struct lexer *l, size_t start, size_t end)
{
	size_t at;
	char c = before(l, start, &at);

	if (start && strchr("$@%&*", l->s[start - 1]))
		return true;
	if ((c == '>' && at > 1 && l->s[at - 2] == '-') ||
	    (at > 2 && !strncmp(l->s + at - 3, "sub", 3)))
		return true;
	while (end < l->len && (l->s[end] == ' ' || l->s[end] == '\t'))
		end++;
	if (end + 1 < l->len && l->s[end] == '=' && l->s[end + 1] == '>')
		return true;
	return c == '{' && end < l->len && l->s[end] == '}';
}

static void quoted_word(struct lexer *l, const struct quote *q)
{
	size_t start = l->at;

	skip_space(l);
	char open = lex_look(l, 0);
	if (!open || lex_is_word(open) || open == ',' || open == ';' || open == ')' ||
	    (open == '=' && l->at > start) || (open == '#' && l->at > start))
		return;
	if (q->parts == 1) {
		delimited(l, q->plain || open == '\'');
		return;
	}
	lex_take(l, 1, LEX_CODE);
	take_text(l, find_close(l, l->at, open, closing(open)), q->plain || open == '\'');
	lex_take(l, 1, LEX_CODE);
	second(l, open, q->word[0] == 's');
}

static void word(struct lexer *l)
{
	const char *s = l->s + l->at;
	size_t n = 0, start = l->at;
	bool line_start = !start || l->s[start - 1] == '\n';

	while (lex_is_word(lex_look(l, n)))
		n++;
	const struct quote *q = is_name(l, start, start + n) ? NULL : quote_of(s, n);
	lex_take(l, n, LEX_CODE);
	if (line_start &&
	    ((n == 7 && !memcmp(s, "__END__", 7)) || (n == 8 && !memcmp(s, "__DATA__", 8)))) {
		lex_take_line(l, LEX_CODE);
		lex_take(l, l->len - l->at, LEX_STRING);
	} else if (q) {
		quoted_word(l, q);
	}
}

/* --- patterns and documents --- */

/* Whether a value has ended before this place, so that an operator follows. */
static bool follows_value(const struct lexer *l)
{
	static const char *const words[] = {
		"split",   "grep",  "map", "join",   "if",    "unless", "and",
		"or",	   "not",   "xor", "return", "while", "until",	"push",
		"unshift", "print", "say", "x",	     "lt",    "gt",	"le",
		"ge",	   "eq",    "ne",  "cmp",    "when",  "die",	"warn",
	};
	size_t end;
	char c = before(l, l->at, &end);

	if (!c || c == '\n')
		return false;
	if (!lex_is_word(c))
		return strchr(")]}\"'`", c) != NULL;
	size_t start;
	for (start = end; start && lex_is_word(l->s[start - 1]); start--)
		;
	if (start && strchr("$@%&", l->s[start - 1]))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == end - start && !memcmp(words[i], l->s + start, end - start))
			return false;
	return true;
}

/* At <<: what names the end of a document; false when it is a shift. */
static bool read_document(struct lexer *l, struct document *ret)
{
	size_t at = 2;

	*ret = (struct document){ .indented = lex_look(l, at) == '~' };
	at += ret->indented;
	size_t blanks = 0;
	while (lex_look(l, at + blanks) == ' ')
		blanks++;
	char quote = lex_look(l, at + blanks);
	size_t n = 0;
	if (quote == '"' || quote == '\'') {
		at += blanks + 1;
		while (lex_look(l, at) && lex_look(l, at) != quote && lex_look(l, at) != '\n' &&
		       n + 1 < sizeof(ret->word))
			ret->word[n++] = lex_look(l, at++);
		if (lex_look(l, at++) != quote)
			return false;
		ret->plain = quote == '\'';
	} else {
		size_t before_it;
		char c = before(l, l->at, &before_it);

		if (!isalpha((unsigned char)quote) && quote != '_')
			return false;
		if (blanks || c == ')' || c == ']' || isdigit((unsigned char)c))
			return false;
		while (lex_is_word(lex_look(l, at)) && n + 1 < sizeof(ret->word))
			ret->word[n++] = lex_look(l, at++);
	}
	lex_take(l, at, LEX_CODE);
	return n > 0;
}

/* The place of the line that ends the document, from the start of a line on; l->len:
 * there is none. */
static size_t document_end(const struct lexer *l, const struct document *d)
{
	size_t at = l->at, n = strlen(d->word);

	while (at < l->len) {
		const char *nl = memchr(l->s + at, '\n', l->len - at);
		size_t end = nl ? (size_t)(nl - l->s) : l->len;

		size_t line = at;
		while (d->indented && line < end && isspace((unsigned char)l->s[line]))
			line++;
		if (end - line == n + (end > line && l->s[end - 1] == '\r') &&
		    !memcmp(l->s + line, d->word, n))
			return at;
		at = end + 1;
	}
	return l->len;
}

/* Behind the newline of the line that named them. One that never ends was a shift. */
static void take_documents(struct lexer *l, struct documents *d)
{
	for (size_t i = 0; i < d->count; i++) {
		size_t end = document_end(l, &d->list[i]);

		if (end >= l->len) {
			d->misses++;
			break;
		}
		take_text(l, end, d->list[i].plain);
		lex_take_line(l, LEX_STRING);
		lex_take(l, 1, LEX_CODE);
	}
	d->count = 0;
}

static void take_pod(struct lexer *l)
{
	const char *end = memmem(l->s + l->at, l->len - l->at, "\n=cut", 5);

	lex_take(l, end ? (size_t)(end - l->s) + 5 - l->at : l->len - l->at, LEX_COMMENT);
	lex_take_line(l, LEX_COMMENT);
}

/* A variable: those of punctuation look like quotes and comments. */
static void variable(struct lexer *l)
{
	char next = lex_look(l, 1);
	bool special = next && strchr("#'\"/;`&.,\\!@$<>()[]|?:+~=-", next);

	lex_take(l, special ? 2 : 1, LEX_CODE);
}

static bool at_line_start(const struct lexer *l)
{
	return !l->at || l->s[l->at - 1] == '\n';
}

/* What is a token of more than one byte; false: nothing is. */
static bool token(struct lexer *l, char c, struct documents *d)
{
	if (c == '=' && at_line_start(l) && isalpha((unsigned char)lex_look(l, 1)))
		take_pod(l);
	else if (c == '#')
		lex_take_line(l, LEX_COMMENT);
	else if (c == '"' || c == '`' || c == '\'')
		delimited(l, c == '\'');
	else if (c == '$')
		variable(l);
	else if (c == '/' && !follows_value(l))
		delimited(l, false);
	else if (c == '/' && lex_look(l, 1) == '/')
		lex_take(l, 2, LEX_CODE); /* of the two the second begins no pattern */
	else if (c == '<' && lex_look(l, 1) == '<' && d->count < DOCUMENTS_MAX &&
		 d->misses < MISSES_MAX && read_document(l, &d->list[d->count]))
		d->count++;
	else if (lex_is_word(c))
		word(l);
	else
		return false;
	return true;
}

void lex_perl(struct lexer *l, char until)
{
	struct documents documents = { .count = 0 };
	int depth = 0;

	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (token(l, c, &documents))
			continue;
		lex_take(l, 1, LEX_CODE);
		if (c == '\n' && documents.count)
			take_documents(l, &documents);
		if (lex_ends_nested(c, until, &depth))
			return;
	}
}
