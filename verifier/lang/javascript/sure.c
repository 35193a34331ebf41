/*
 * Where JavaScript's strings, regular expressions, comments and brackets are, said only of a text
 * that can be read in one way: whether a slash divides is told by the statement before it, and
 * where that is not enough nothing is guessed. It is no parser; what is unusual is not sure.
 */
#include "verifier/lang/javascript/javascript.h"

#include "base/mem.h"

#define OPEN_MAX 200

/* What a slash is behind a bracket. */
enum after { DIVIDES, BEGINS_REGEX, UNCLEAR };

struct reading {
	struct lexer *l;
	struct {
		char c; /* '$': a field of a template */
		enum after after;
	} open[OPEN_MAX]; /* innermost last */
	size_t depth;
	size_t last;	  /* where what was read last ends, but for comments; 0: nothing */
	enum after after; /* of the bracket that was closed last */
};

/* The word that ends at `end`; its length, 0 when that is none, or the name of a part. */
static size_t word_before(const struct lexer *l, size_t end, const char **ret)
{
	size_t start = end;

	while (start && (lex_is_word(l->s[start - 1]) || l->s[start - 1] == '$'))
		start--;
	size_t before = start;
	while (before && (strchr(" \t\n", l->s[before - 1]) || l->kinds[before - 1] == LEX_COMMENT))
		before--;
	*ret = l->s + start;
	return before && strchr(".#", l->s[before - 1]) ? 0 : end - start;
}

static bool is_one_of(const char *word, size_t len, const char *words)
{
	for (const char *at = words; *at; at += strlen(at) + 1)
		if (strlen(at) == len && !memcmp(at, word, len))
			return true;
	return false;
}

static bool take_bracket(struct reading *r)
{
	char c = lex_look(r->l, 0);

	lex_take(r->l, 1, LEX_CODE);
	if (strchr("([{", c)) {
		const char *word;

		if (r->depth == OPEN_MAX)
			return false;
		size_t n = c == '(' ? word_before(r->l, r->last, &word) : 0;
		r->open[r->depth].c = c;
		r->open[r->depth++].after = n && is_one_of(word, n, "if\0while\0for\0with\0") ?
						    BEGINS_REGEX :
					    n && is_one_of(word, n, "await\0") ? UNCLEAR :
										 DIVIDES;
		return true;
	}
	if (!r->depth || r->open[--r->depth].c != (c == ')' ? '(' : c == ']' ? '[' : '{'))
		return false;
	r->after = c == '}' ? UNCLEAR : r->open[r->depth].after;
	return true;
}

static bool take_string(struct lexer *l)
{
	char quote = lex_look(l, 0);

	lex_take(l, 1, LEX_CODE);
	while (l->at < l->len && lex_look(l, 0) != quote) {
		if (lex_look(l, 0) == '\n')
			return false;
		lex_take(l, lex_look(l, 0) == '\\' ? 2 : 1, LEX_STRING);
	}
	lex_take(l, 1, LEX_CODE);
	return true;
}

/* Behind its quote, or a field of it. */
static bool take_template(struct reading *r)
{
	struct lexer *l = r->l;

	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '`') {
			lex_take(l, 1, LEX_CODE);
			return true;
		}
		if (c == '$' && lex_look(l, 1) == '{') {
			lex_take(l, 2, LEX_CODE);
			if (r->depth == OPEN_MAX)
				return false;
			r->open[r->depth].after = UNCLEAR;
			r->open[r->depth++].c = '$';
			return true;
		}
		lex_take(l, c == '\\' ? 2 : 1, LEX_STRING);
	}
	return false;
}

/* A class within a class is one in newer expressions only. */
static bool take_regex(struct lexer *l)
{
	bool class = false;

	lex_take(l, 1, LEX_CODE);
	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '\n' || (c == '[' && class))
			return false;
		if (c == '/' && !class) {
			lex_take(l, 1, LEX_CODE);
			return true;
		}
		if (c == '[' || c == ']')
			class = c == '[';
		lex_take(l, c == '\\' && lex_look(l, 1) != '\n' ? 2 : 1, LEX_STRING);
	}
	return false;
}

/* Of what may be either: with one slash in the line it divides. */
static bool take_lone_slash(struct lexer *l)
{
	const char *at = l->s + l->at + 1, *end = memchr(at, '\n', l->len - l->at - 1);

	if (memchr(at, '/', end ? (size_t)(end - at) : l->len - l->at - 1))
		return false;
	lex_take(l, 1, LEX_CODE);
	return true;
}

static bool take_slash(struct reading *r)
{
	struct lexer *l = r->l;
	char before = r->last ? l->s[r->last - 1] : ';';

	if (lex_is_word(before) || before == '$') {
		const char *word;
		size_t n = word_before(l, r->last, &word);

		if (is_one_of(word, n,
			      "return\0typeof\0case\0in\0delete\0void\0throw\0do\0else\0new\0"))
			return take_regex(l);
		if (!n || is_one_of(word, n, "of\0yield\0await\0let\0async\0static\0instanceof\0"))
			return take_lone_slash(l);
	} else if (before == '}' || (before == ')' && r->after == UNCLEAR) ||
		   (strchr("+-", before) && r->last > 1 && l->s[r->last - 2] == before)) {
		return take_lone_slash(l);
	} else if (before == ')' ? r->after == BEGINS_REGEX : !strchr("]\"'`", before)) {
		return before != '/' && before != '.' && take_regex(l);
	}
	lex_take(l, 1, LEX_CODE);
	return true;
}

static bool take_comment(struct lexer *l)
{
	if (lex_look(l, 1) == '/') {
		lex_take_line(l, LEX_COMMENT);
		return true;
	}
	const char *end = memmem(l->s + l->at + 2, l->len - l->at - 2, "*/", 2);
	if (!end)
		return false;
	lex_take(l, (size_t)(end - l->s) + 2 - l->at, LEX_COMMENT);
	return true;
}

static bool take_code(struct reading *r)
{
	char c = lex_look(r->l, 0);

	if (c == '"' || c == '\'')
		return take_string(r->l);
	if (c == '/')
		return take_slash(r);
	if (c == '\\')
		return false;
	if (c == '`' || (c == '}' && r->depth && r->open[r->depth - 1].c == '$')) {
		r->depth -= c == '}';
		lex_take(r->l, 1, LEX_CODE);
		return take_template(r);
	}
	if (strchr("([{}])", c))
		return take_bracket(r);
	lex_take(r->l, 1, LEX_CODE);
	return true;
}

bool sure_javascript(struct lexer *l)
{
	/* What ends a line, or is a comment, of old. */
	static const char *const odd[] = { "\r", "\xe2\x80\xa8", "\xe2\x80\xa9", "<!--", "-->" };
	struct reading r = { .l = l };

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		if (memmem(l->s, l->len, odd[i], strlen(odd[i])))
			return false;
	if (memchr(l->s, '\0', l->len))
		return false;
	while (l->at < l->len) {
		char c = lex_look(l, 0), next = lex_look(l, 1);

		if (c == ' ' || c == '\t' || c == '\n') {
			lex_take(l, 1, LEX_CODE);
		} else if (c == '/' && (next == '/' || next == '*')) {
			if (!take_comment(l))
				return false;
		} else if (!take_code(&r)) {
			return false;
		} else {
			r.last = l->at;
		}
	}
	return r.depth == 0;
}
