/*
 * bash's quotes, documents and comments. What is unclear is code, on which side screening errs;
 * it is no parser and never fails.
 */
#include "verifier/lang/bash/bash.h"

static void bash_quoted(struct lexer *l)
{
	char quote = lex_look(l, 0);

	lex_take(l, 1, LEX_CODE);
	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '\\' && quote == '"') {
			lex_take(l, 2, LEX_STRING);
		} else if (c == quote) {
			lex_take(l, 1, LEX_CODE);
			return;
		} else if (quote == '"' && c == '$' && lex_look(l, 1) == '(') {
			lex_take_nested(l, 2, lex_bash, ')');
		} else {
			lex_take(l, 1, LEX_STRING);
		}
	}
}

/* The word after << names the end of the document; quotes around it fall. */
static size_t heredoc_word(struct lexer *l, char *word, size_t size, bool *strip)
{
	size_t at = 2;
	char quote = '\0';

	*strip = lex_look(l, at) == '-';
	at += *strip;
	while (lex_look(l, at) == ' ' || lex_look(l, at) == '\t')
		at++;
	if (lex_look(l, at) == '\'' || lex_look(l, at) == '"')
		quote = lex_look(l, at++);
	size_t n = 0;
	while ((lex_is_word(lex_look(l, at)) || lex_look(l, at) == '-') && n + 1 < size)
		word[n++] = lex_look(l, at++);
	word[n] = '\0';
	lex_take(l, at + (quote && lex_look(l, at) == quote), LEX_CODE);
	return n;
}

static void bash_heredoc(struct lexer *l)
{
	char word[64];
	bool strip;
	size_t n = heredoc_word(l, word, sizeof(word), &strip), start = l->at;

	if (!n)
		return;
	lex_take_line(l, LEX_CODE); /* the rest of the command */
	while (l->at < l->len) {
		lex_take(l, 1, LEX_CODE); /* the newline */
		size_t line = l->at;
		while (strip && lex_look(l, line - l->at) == '\t')
			line++;
		lex_take_line(l, LEX_STRING);
		size_t end = l->at;
		if (end >= line && end - line == n && !memcmp(l->s + line, word, n))
			return;
	}
	/* Never closed: more likely a shift in arithmetic than a document. */
	l->at = start;
	lex_take(l, l->len - start, LEX_CODE);
}

static bool bash_comment_may_start(const struct lexer *l)
{
	return !l->at || strchr(" \t\n;&|(", l->s[l->at - 1]);
}

void lex_bash(struct lexer *l, char until)
{
	int depth = 0;

	while (l->at < l->len) {
		char c = lex_look(l, 0);

		if (c == '\\') {
			lex_take(l, 2, LEX_CODE);
		} else if (c == '#' && bash_comment_may_start(l)) {
			lex_take_line(l, LEX_COMMENT);
		} else if (c == '"' || c == '\'') {
			bash_quoted(l);
		} else if (c == '<' && lex_look(l, 1) == '<' && lex_look(l, 2) != '<' && !until) {
			bash_heredoc(l);
			if (lex_look(l, 0) == '<')
				lex_take(l, 1, LEX_CODE);
		} else if (c == '<' && lex_look(l, 1) == '<' && lex_look(l, 2) == '<') {
			lex_take(l, 3, LEX_CODE);
		} else {
			lex_take(l, 1, LEX_CODE);
			if (lex_ends_nested(c, until, &depth))
				return;
		}
	}
}
