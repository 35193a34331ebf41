/*
 * JavaScript's strings, templates, regular expressions and comments. Whether a slash divides is
 * told by what stands before it; what is unclear is code.
 */
#include "verifier/lang/javascript/javascript.h"

#include "base/mem.h"

static void javascript_string(struct lexer *l)
{
	char quote = lex_look(l, 0);

	lex_take(l, 1, LEX_CODE);
	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '\\') {
			lex_take(l, 2, LEX_STRING);
		} else if (c == quote) {
			lex_take(l, 1, LEX_CODE);
			return;
		} else if (c == '\n' && quote != '`') {
			return;
		} else if (quote == '`' && c == '$' && lex_look(l, 1) == '{') {
			lex_take_nested(l, 2, lex_javascript, '}');
		} else {
			lex_take(l, 1, LEX_STRING);
		}
	}
}

static void block_comment(struct lexer *l)
{
	const char *end = memmem(l->s + l->at + 2, l->len - l->at - 2, "*/", 2);

	lex_take(l, end ? (size_t)(end - l->s) + 2 - l->at : l->len - l->at, LEX_COMMENT);
}

/* A slash starts a regular expression where no value can have ended. */
static bool regex_may_start(const struct lexer *l)
{
	static const char *const words[] = { "return", "typeof", "case",  "in", "of",
					     "delete", "void",	 "throw", "do", "else" };
	size_t end = l->at;

	while (end && isspace((unsigned char)l->s[end - 1]))
		end--;
	if (!end)
		return true;
	if (!lex_is_word(l->s[end - 1]) && l->s[end - 1] != '$')
		return !strchr(")]}\"'`", l->s[end - 1]);
	size_t start;
	for (start = end; start && lex_is_word(l->s[start - 1]); start--)
		;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == end - start && !memcmp(words[i], l->s + start, end - start))
			return true;
	return false;
}

static void javascript_regex(struct lexer *l)
{
	lex_take(l, 1, LEX_CODE);
	bool class = false;
	while (l->at < l->len && lex_look(l, 0) != '\n') {
		char c = lex_look(l, 0);

		if (c == '\\') {
			lex_take(l, 2, LEX_STRING);
			continue;
		}
		if (c == '[' || c == ']')
			class = c == '[';
		if (c == '/' && !class) {
			lex_take(l, 1, LEX_CODE);
			return;
		}
		lex_take(l, 1, LEX_STRING);
	}
}

void lex_javascript(struct lexer *l, char until)
{
	int depth = 0;

	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '/' && lex_look(l, 1) == '/') {
			lex_take_line(l, LEX_COMMENT);
		} else if (c == '/' && lex_look(l, 1) == '*') {
			block_comment(l);
		} else if (c == '"' || c == '\'' || c == '`') {
			javascript_string(l);
		} else if (c == '/' && regex_may_start(l)) {
			javascript_regex(l);
		} else {
			lex_take(l, 1, LEX_CODE);
			if (lex_ends_nested(c, until, &depth))
				return;
		}
	}
}
