/*
 * Python's strings and comments: f-strings hold expressions, and a string may be three quotes
 * long. What is unclear is code, on which side screening errs; it is no parser and never fails.
 */
#include "verifier/lang/python/python.h"

/* At the opening quote. */
static void python_string(struct lexer *l, bool format)
{
	char quote = lex_look(l, 0);
	bool triple = lex_look(l, 1) == quote && lex_look(l, 2) == quote;

	lex_take(l, triple ? 3 : 1, LEX_CODE);
	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '\\') {
			lex_take(l, 2, LEX_STRING);
		} else if (c == quote &&
			   (!triple || (lex_look(l, 1) == quote && lex_look(l, 2) == quote))) {
			lex_take(l, triple ? 3 : 1, LEX_CODE);
			return;
		} else if (c == '\n' && !triple) {
			return;
		} else if (format && c == '{' && lex_look(l, 1) == '{') {
			lex_take(l, 2, LEX_STRING);
		} else if (format && c == '{') {
			lex_take_nested(l, 1, lex_python, '}');
		} else {
			lex_take(l, 1, LEX_STRING);
		}
	}
}

/* A word, and the string after it when the word is a string prefix. */
static void python_word(struct lexer *l)
{
	size_t n = 0;

	while (lex_is_word(lex_look(l, n)))
		n++;
	bool prefix = n <= 2 && (lex_look(l, n) == '"' || lex_look(l, n) == '\'');
	bool format = false;
	for (size_t i = 0; prefix && i < n; i++) {
		char c = (char)tolower((unsigned char)lex_look(l, i));

		prefix = strchr("rbfu", c) != NULL;
		format = format || c == 'f';
	}
	lex_take(l, n, LEX_CODE);
	if (prefix)
		python_string(l, format);
}

void lex_python(struct lexer *l, char until)
{
	int depth = 0;

	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (until && c == '\n' && l->nesting == 1 && depth == 0) {
			return; /* an unclosed brace of a one-line f-string */
		} else if (c == '#' && !until) {
			lex_take_line(l, LEX_COMMENT);
		} else if (c == '"' || c == '\'') {
			python_string(l, false);
		} else if (lex_is_word(c)) {
			python_word(l);
		} else {
			lex_take(l, 1, LEX_CODE);
			if (lex_ends_nested(c, until, &depth))
				return;
		}
	}
}
