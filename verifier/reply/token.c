/*
 * A block of code as tokens, enough for an outline: names, brackets, strings, line ends.
 * Unbalanced brackets are a fault it reports; it never fails.
 */
#include "verifier/reply/token.h"

#include "base/mem.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Strings in expressions in strings, deeper, are not followed. */
#define STRINGS_MAX 32

bool token_is(const struct token *t, const char *text)
{
	return t && t->kind != TOKEN_STRING && strlen(text) == t->len &&
	       !memcmp(t->s, text, t->len);
}

void token_fault(struct token_reader *r, const char *what)
{
	if (!r->list->fault)
		r->list->fault = what;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static size_t column(const struct token_reader *r)
{
	size_t n = 0;

	for (size_t i = r->line_start; i < r->at; i++)
		n = r->code[i] == '\t' ? n + 8 - n % 8 : n + 1;
	return n;
}

struct token *token_add(struct token_reader *r, enum token_kind kind, size_t len)
{
	struct token_list *list = r->list;

	if (list->count == list->cap) {
		list->cap = list->cap ? list->cap * 2 : 64;
		list->tokens = mem_array(list->tokens, list->cap, sizeof(*list->tokens));
	}
	struct token *t = &list->tokens[list->count++];
	*t = (struct token){ .kind = kind,
			     .s = r->code + r->at,
			     .len = len,
			     .depth = r->depth,
			     .newline = r->newline,
			     .column = r->newline ? column(r) : 0,
			     .inner = r->strings > 0 };
	r->newline = false;
	return t;
}

bool token_is_code(const struct token_reader *r, size_t at)
{
	return at < r->x.len && r->x.kinds[at] == LEX_CODE;
}

static size_t word_len(const struct token_reader *r)
{
	size_t n = 0;

	while (r->at + n < r->x.len && is_word(r->code[r->at + n]) && token_is_code(r, r->at + n))
		n++;
	return n;
}

static bool is_quote(const struct token_reader *r, char c)
{
	return c && strchr(r->traits->quotes, c);
}

static void read_string(struct token_reader *r);

/* The expression at a brace in a string: its names, up to the format or the end. */
static void read_nested(struct token_reader *r)
{
	size_t depth = 0;
	bool names = true;
	char c, before = '\0';

	for (r->at++; r->at < r->x.len; before = c) {
		c = r->x.code[r->at];
		if (!token_is_code(r, r->at)) {
			r->at++;
		} else if (is_quote(r, c)) {
			read_string(r);
		} else if (is_word(c)) {
			size_t n = word_len(r);

			if (names && before != '.' && !isdigit((unsigned char)c))
				token_add(r, TOKEN_NAME, n);
			r->at += n;
		} else {
			r->at++;
			if (c == '}' && !depth)
				return;
			depth += strchr("([{", c) != NULL;
			depth -= depth && strchr(")]}", c);
			names = names && !(r->traits->formats && !depth && (c == ':' || c == '!'));
		}
	}
}

/* From the opening quote to past the closing one. */
static void read_string(struct token_reader *r)
{
	char quote = r->code[r->at];
	size_t start = r->at;

	bool triple = r->traits->triple && r->at + 2 < r->x.len && r->code[start + 1] == quote &&
		      r->code[start + 2] == quote && token_is_code(r, start + 1) &&
		      token_is_code(r, start + 2);
	size_t n = triple ? 3 : 1;
	if (++r->strings > STRINGS_MAX) {
		r->at = r->x.len;
		return;
	}
	for (r->at += n; r->at < r->x.len;) {
		char c = r->code[r->at];

		if (!token_is_code(r, r->at)) {
			r->at++;
		} else if (c == quote) {
			r->at += n;
			r->strings--;
			return;
		} else if (c == '{') {
			read_nested(r);
		} else if (c == '\n' && !triple && quote != '`') {
			break;
		} else {
			r->at++;
		}
	}
	r->strings--;
	token_fault(r, "a string in it is never closed");
}

void token_bracket(struct token_reader *r, char c)
{
	char open = c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '\0';

	if (!open) {
		token_add(r, TOKEN_OP, 1);
		if (r->depth < TOKEN_DEPTH_MAX)
			r->open[r->depth] = c;
		r->depth++;
	} else if (!r->depth || (r->depth <= TOKEN_DEPTH_MAX && r->open[r->depth - 1] != open)) {
		token_fault(r, "a bracket in it closes nothing");
		token_add(r, TOKEN_OP, 1);
	} else {
		r->depth--;
		token_add(r, TOKEN_OP, 1);
	}
	r->at++;
}

/* A string with the letters before it, as one token; the names in it follow. */
static void read_string_token(struct token_reader *r, size_t prefix)
{
	size_t start = r->at, index = r->list->count;

	token_add(r, TOKEN_STRING, 0);
	r->at += prefix;
	read_string(r);
	r->list->tokens[index].len = (r->at < r->x.len ? r->at : r->x.len) - start;
}

static bool is_prefix(const struct token_reader *r, size_t n)
{
	size_t end = r->at + n;

	if (n > 2 || end >= r->x.len || !strchr("\"'", r->code[end]))
		return false;
	for (size_t i = r->at; i < end; i++)
		if (!strchr(r->traits->prefixes, r->code[i]))
			return false;
	return true;
}

static void read_regex(struct token_reader *r)
{
	token_add(r, TOKEN_STRING, 1);
	for (r->at++; r->at < r->x.len && !(token_is_code(r, r->at) && r->code[r->at] == '/');
	     r->at++)
		;
	r->at++;
}

static void read_code(struct token_reader *r, char c)
{
	if (r->traits->special && r->traits->special(r, c))
		return;
	if (is_word(c)) {
		size_t n = word_len(r);
		if (is_prefix(r, n)) {
			read_string_token(r, n);
			return;
		}
		if (isdigit((unsigned char)c))
			while (r->at + n < r->x.len &&
			       (r->code[r->at + n] == '.' || is_word(r->code[r->at + n])))
				n++;
		token_add(r, isdigit((unsigned char)c) ? TOKEN_NUMBER : TOKEN_NAME, n);
		r->at += n;
	} else if (is_quote(r, c)) {
		read_string_token(r, 0);
	} else if (strchr("()[]{}", c)) {
		token_bracket(r, c);
	} else if (c == '/' && r->traits->regex && r->at + 1 < r->x.len &&
		   r->x.kinds[r->at + 1] == LEX_STRING) {
		read_regex(r);
	} else {
		token_add(r, TOKEN_OP, 1);
		r->at++;
	}
}

static void read_all(struct token_reader *r)
{
	while (r->at < r->x.len) {
		char c = r->x.code[r->at];

		if (c == '\n') {
			r->at++;
			r->newline = true;
			r->line_start = r->at;
		} else if (c == '\\' && r->traits->continues && r->at + 1 < r->x.len &&
			   r->code[r->at + 1] == '\n') {
			r->at += 2; /* the line goes on */
		} else if (r->x.kinds[r->at] == LEX_STRING && r->traits->text) {
			r->traits->text(r);
		} else if (isspace((unsigned char)c) || !c || !token_is_code(r, r->at)) {
			r->at++;
		} else {
			read_code(r, c);
		}
	}
	if (r->depth)
		token_fault(r, "a bracket in it is never closed");
}

void token_read(const char *lang, const struct token_traits *traits, const char *code, size_t len,
		struct token_list *ret)
{
	struct token_reader r = { .code = code, .list = ret, .newline = true, .traits = traits };

	*ret = (struct token_list){ .count = 0 };
	lex_code(lang, code, len, &r.x);
	read_all(&r);
	lexed_release(&r.x);
}

void token_list_release(struct token_list *list)
{
	free(list->tokens);
	*list = (struct token_list){ .count = 0 };
}
