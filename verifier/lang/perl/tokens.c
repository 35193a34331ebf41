/*
 * What only Perl's tokens have: a sign before a variable's name, names with "::", texts that
 * begin with a word, and variables inside of texts. It follows the lexer, and knows no more than
 * it where a text ends.
 */
#include "verifier/lang/perl/perl.h"

#include "base/mem.h"
#include "verifier/reply/token.h"

static char look(const struct token_reader *r, size_t at)
{
	return at < r->x.len ? r->code[at] : '\0';
}

static bool is_text(const struct token_reader *r, size_t at)
{
	return at < r->x.len && r->x.kinds[at] == LEX_STRING;
}

/* A name at a place, with its package. */
static size_t name_len(const struct token_reader *r, size_t at)
{
	if (isdigit((unsigned char)look(r, at)))
		return 0;
	size_t n = 0;
	for (;;) {
		while (lex_is_word(look(r, at + n)))
			n++;
		if (!n || look(r, at + n) != ':' || look(r, at + n + 1) != ':' ||
		    !lex_is_word(look(r, at + n + 2)))
			return n;
		n += 2;
	}
}

/* --- variables --- */

/* How many signs there are before the name of a variable: "$", "@", "$$", "$#". */
static size_t signs_at(const struct token_reader *r, size_t at)
{
	size_t n = 1;

	if (look(r, at) == '$' && look(r, at + 1) == '#' &&
	    (lex_is_word(look(r, at + 2)) || strchr("{$", look(r, at + 2))))
		n++;
	while (look(r, at + n) == '$' &&
	       (lex_is_word(look(r, at + n + 1)) || strchr("{$", look(r, at + n + 1))))
		n++;
	return n;
}

/* The variable whose signs begin here, "$x" or "${x}"; else the signs alone. */
static void take_variable(struct token_reader *r)
{
	size_t signs = signs_at(r, r->at);
	bool braces = look(r, r->at + signs) == '{';

	size_t len = name_len(r, r->at + signs + braces);
	if (len && (!braces || look(r, r->at + signs + 1 + len) == '}')) {
		r->at += signs + braces;
		token_add(r, TOKEN_NAME, len)->variable = true;
		r->at += len + braces;
	} else if (braces) {
		token_add(r, TOKEN_OP, 1);
		r->at += signs;
	} else { /* of punctuation, or a number: nobody gives it */
		while (isdigit((unsigned char)look(r, r->at + signs)))
			signs++;
		/* A parenthesis closes a prototype more often than it names a variable. */
		signs += signs == 1 && !is_text(r, r->at + 1) && look(r, r->at + 1) != ')';
		token_add(r, TOKEN_NUMBER, 1);
		r->at += signs;
	}
}

/* "%" and "@" are signs before a name, a brace or another sign; "%" with a blank or a bracket
 * before it, where it is no remainder. */
static bool is_sign(const struct token_reader *r, char c)
{
	char next = look(r, r->at + 1), before = r->at ? look(r, r->at - 1) : ' ';
	bool name = next && (lex_is_word(next) || strchr("{$", next));

	if (c == '$')
		return true;
	if (c == '@')
		return name;
	return c == '%' && name && !isdigit((unsigned char)next) &&
	       (isspace((unsigned char)before) || strchr("([{,\\=@", before));
}

/* --- texts --- */

/* A byte of a text: a variable, or nothing. */
static void take_text_byte(struct token_reader *r, bool plain)
{
	char c = look(r, r->at), next = look(r, r->at + 1);
	bool sign = c == '$' || c == '@';

	if (c == '\\') {
		r->at += 2;
	} else if (!plain && sign && (isalpha((unsigned char)next) || next == '_')) {
		r->strings++;
		take_variable(r);
		r->strings--;
	} else {
		r->at++;
	}
}

void perl_text(struct token_reader *r)
{
	take_text_byte(r, false);
}

/* The expression of a "${...}" or "@{...}" in a text: its names. */
static void take_expression(struct token_reader *r)
{
	r->strings++;
	size_t depth = 0;
	for (r->at++; r->at < r->x.len;) {
		char c = look(r, r->at);
		size_t n = name_len(r, r->at);

		if (is_text(r, r->at)) {
			r->at++;
		} else if (c == '$' || (c == '@' && lex_is_word(look(r, r->at + 1)))) {
			take_variable(r);
		} else if (n) {
			token_add(r, TOKEN_NAME, n);
			r->at += n;
		} else {
			depth += c == '{';
			depth -= c == '}';
			r->at++;
			if (!depth)
				break;
		}
	}
	r->strings--;
}

/* Past what closes the text that begins here. */
static void take_text(struct token_reader *r, bool plain)
{
	while (r->at < r->x.len) {
		char c = look(r, r->at), next = look(r, r->at + 1);

		if (is_text(r, r->at)) {
			take_text_byte(r, plain);
		} else if ((c == '$' || c == '@') && next == '{' && token_is_code(r, r->at + 1)) {
			take_expression(r);
		} else {
			r->at++;
			return;
		}
	}
	token_fault(r, "a string in it is never closed");
}

/* The word at the place is n bytes and begins a text; where, or 0. */
static size_t text_begins(const struct token_reader *r, size_t n)
{
	static const char *const quotes[] = { "q", "qq", "qw", "qx", "qr", "m", "s", "tr", "y" };
	size_t at = r->at + n, i;

	for (i = 0; i < ARRAY_SIZE(quotes); i++)
		if (strlen(quotes[i]) == n && !memcmp(quotes[i], r->code + r->at, n))
			break;
	while (isspace((unsigned char)look(r, at)))
		at++;
	if (i == ARRAY_SIZE(quotes) || !token_is_code(r, at) || lex_is_word(look(r, at)))
		return 0;
	return is_text(r, at + 1) ||
			       (strchr("([{<", look(r, at)) && strchr(")]}>", look(r, at + 1))) ?
		       at :
		       0;
}

/* What follows the first text of s, tr and y: the second, unless it is code, and the flags. */
static void take_second(struct token_reader *r, char open)
{
	size_t at = r->at;

	if (strchr("([{<", open)) {
		while (isspace((unsigned char)look(r, at)))
			at++;
		if (!is_text(r, at + 1) && !strchr(")]}>", look(r, at + 1)))
			return;
		r->at = at + 1;
		take_text(r, false);
	} else if (is_text(r, at) || look(r, at) == open) {
		take_text(r, false);
	}
	while (isalpha((unsigned char)look(r, r->at)))
		r->at++;
}

static void take_quoted(struct token_reader *r, size_t word, size_t begin)
{
	size_t index = r->list->count, start = r->at;
	char open = look(r, begin), first = word ? look(r, r->at) : '\0';
	bool plain =
		open == '\'' || (word && first == 'q' && (word == 1 || look(r, start + 1) == 'w'));

	token_add(r, TOKEN_STRING, 1);
	r->at = begin + 1;
	take_text(r, plain);
	r->list->tokens[index].len = r->at - start;
	if (word && (first == 's' || first == 't' || first == 'y'))
		take_second(r, open);
	else if (first == 'm' || (first == 'q' && word == 2 && look(r, start + 1) == 'r') || !word)
		while (!word ? open == '/' && isalpha((unsigned char)look(r, r->at)) :
			       isalpha((unsigned char)look(r, r->at)))
			r->at++;
}

/* What names a document, "<<'END'" or "<<~END"; its length, or 0. */
static size_t document_len(const struct token_reader *r)
{
	size_t n = 2 + (look(r, r->at + 2) == '~');
	char quote = look(r, r->at + n);

	if (look(r, r->at) != '<' || look(r, r->at + 1) != '<')
		return 0;
	if (quote == '"' || quote == '\'') {
		const char *end = memchr(r->code + r->at + n + 1, quote, r->x.len - r->at - n - 1);

		return end && token_is_code(r, r->at + n + 1) ?
			       (size_t)(end + 1 - r->code) - r->at :
			       0;
	}
	return name_len(r, r->at + n) ? n + name_len(r, r->at + n) : 0;
}

bool perl_special(struct token_reader *r, char c)
{
	size_t n = name_len(r, r->at);
	char before = r->at ? look(r, r->at - 1) : '\0';

	if (document_len(r)) {
		token_add(r, TOKEN_STRING, 2);
		r->at += document_len(r);
		return true;
	}
	if (is_sign(r, c)) {
		take_variable(r);
		return true;
	}
	if (c == '"' || c == '\'' || c == '`' || (c == '/' && is_text(r, r->at + 1))) {
		take_quoted(r, 0, r->at);
		return true;
	}
	if (!n)
		return false;
	size_t begin = before == '>' || before == '{' ? 0 : text_begins(r, n);
	if (begin) {
		take_quoted(r, n, begin);
	} else {
		token_add(r, TOKEN_NAME, n);
		r->at += n;
	}
	return true;
}
