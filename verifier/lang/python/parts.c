/*
 * Where a part of an imported module gets another name: as the value of a variable, an element, a
 * result or an argument of what may change it. While none does, all that a cell can change by
 * names of its own is its own. What is not known to be harmless is taken for none: lists here are
 * of what is.
 */
#include "verifier/lang/python/known.h"
#include "verifier/lang/python/python.h"

#include "base/mem.h"

#include <stdlib.h>

struct token {
	const char *at;
	size_t len;
	size_t opener; /* the bracket that it is in, as a number of a token and one; 0: in none */
};

/* What an import binds. */
struct bound {
	const struct token *name;
	const struct token *module; /* its first name */
	bool is_part;		    /* of the module, not itself */
	const struct token *called; /* a part's own name */
};

struct scan {
	struct token *tokens;
	size_t count;
	struct bound *bound;
	size_t bound_count;
	bool has_operators; /* a class of the cells' says what some do */
};

static bool is_word(char c)
{
	return lex_is_word(c) || (unsigned char)c >= 0x80;
}

static bool is_in(const struct token *t, const char *list)
{
	for (const char *at = list; t && t->len && (at = strchr(at, ' ')) && at[1]; at++)
		if (!strncmp(at + 1, t->at, t->len) && at[1 + t->len] == ' ')
			return true;
	return false;
}

static bool is(const struct token *t, const char *text)
{
	return t && t->len == strlen(text) && !memcmp(t->at, text, t->len);
}

static bool same(const struct token *a, const struct token *b)
{
	return a->len == b->len && !memcmp(a->at, b->at, a->len);
}

static bool is_name(const struct token *t)
{
	return t && is_word(*t->at) && !isdigit((unsigned char)*t->at);
}

/* NULL: there is none. */
static const struct token *token_at(const struct scan *s, size_t i)
{
	return i < s->count ? &s->tokens[i] : NULL;
}

static const struct token *before(const struct scan *s, size_t i, size_t n)
{
	return n <= i ? &s->tokens[i - n] : NULL;
}

static bool is_assigned_by(const struct token *t)
{
	return t && t->at[t->len - 1] == '=' && !is_in(t, " == != < > <= >= := ");
}

/* --- tokens --- */

static size_t operator_length(const char *at, size_t left)
{
	static const char *const longer[] = {
		"**=", "//=", "<<=", ">>=", "==", "!=", "<=", ">=", "->", ":=", "**", "//",
		"<<",  ">>",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", "@="
	};

	for (size_t i = 0; i < ARRAY_SIZE(longer); i++)
		if (strlen(longer[i]) <= left && !memcmp(at, longer[i], strlen(longer[i])))
			return strlen(longer[i]);
	return 1;
}

/* A line's end is a token where no bracket is open. */
static void read_tokens(struct scan *s, const char *code, size_t len)
{
	size_t open = 0, n;

	for (size_t at = 0; at < len; at += n) {
		const char *c = code + at;

		n = 1;
		if ((*c == '\n' && open) || (*c != '\n' && isspace((unsigned char)*c)))
			continue;
		if (is_word(*c))
			while (at + n < len && is_word(c[n]))
				n++;
		else
			n = operator_length(c, len - at);
		if (strchr(")]}", *c) && open)
			open = s->tokens[open - 1].opener;
		s->tokens = mem_one_more(s->tokens, s->count, sizeof(*s->tokens));
		s->tokens[s->count++] = (struct token){ c, n, open };
		if (strchr("([{", *c))
			open = s->count;
	}
}

/* --- imports --- */

static bool starts_statement(const struct scan *s, size_t i)
{
	const struct token *t = before(s, i, 1);

	return !t || is(t, "\n") || is(t, ";") || is(t, ":");
}

static void bind(struct scan *s, struct bound b)
{
	for (size_t i = 0; i < s->bound_count; i++)
		if (same(s->bound[i].name, b.name) && same(s->bound[i].module, b.module) &&
		    same(s->bound[i].called, b.called) && s->bound[i].is_part == b.is_part)
			return;
	s->bound = mem_one_more(s->bound, s->bound_count, sizeof(*s->bound));
	s->bound[s->bound_count++] = b;
}

/* From the word after import; the place after it all. */
static size_t read_names(struct scan *s, size_t i, const struct token *module)
{
	while (i < s->count && !is(&s->tokens[i], "\n") && !is(&s->tokens[i], ";")) {
		const struct token *first = &s->tokens[i];

		if (!is_name(first)) {
			i++;
			continue;
		}
		while (is(token_at(s, i + 1), ".") && is_name(token_at(s, i + 2)))
			i += 2;
		const struct token *name = first;
		if (is(token_at(s, i + 1), "as") && is_name(token_at(s, i + 2)))
			name = &s->tokens[i += 2];
		bind(s, (struct bound){ name, module ? module : first, module != NULL, first });
		i++;
	}
	return i;
}

/* The places of import statements hold nothing else. */
static size_t read_import(struct scan *s, size_t i)
{
	if (!starts_statement(s, i))
		return i;
	if (is(&s->tokens[i], "import"))
		return read_names(s, i + 1, NULL);
	if (!is(&s->tokens[i], "from"))
		return i;
	const struct token *module = token_at(s, i + 1);
	size_t at = i + 1;
	while (at < s->count && (is_name(&s->tokens[at]) || is(&s->tokens[at], ".")) &&
	       !is(&s->tokens[at], "import"))
		at++;
	return is(token_at(s, at), "import") && !is(module, "__future__") ?
		       read_names(s, at + 1, module) :
		       at;
}

/* The next of that name after b, or the first; NULL: there is none. */
static const struct bound *find_bound(const struct scan *s, const struct token *name,
				      const struct bound *b)
{
	for (size_t i = b ? (size_t)(b - s->bound) + 1 : 0; i < s->bound_count; i++)
		if (same(s->bound[i].name, name))
			return &s->bound[i];
	return NULL;
}

/* --- what is around it --- */

/* Defined by a cell, or given a value by one: it could do anything. */
static bool is_own(const struct scan *s, const struct token *name)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct token *t = &s->tokens[i];

		if (!same(t, name))
			continue;
		if (is(before(s, i, 1), "def") || is(before(s, i, 1), "class") ||
		    is(before(s, i, 1), "as") || is(before(s, i, 1), "for") ||
		    is(token_at(s, i + 1), ":=") ||
		    (is(token_at(s, i + 1), "=") && (!t->opener || is(before(s, i, 1), "."))))
			return true;
	}
	return false;
}

/* The name before the bracket, where it is called; NULL: it is none, or a cell's own. */
static const struct token *called(const struct scan *s, size_t opener)
{
	const struct token *name = opener ? before(s, opener - 1, 1) : NULL;
	const struct token *prior = opener ? before(s, opener - 1, 2) : NULL;

	if (!opener || !is(&s->tokens[opener - 1], "(") || !is_name(name) || is(prior, "def") ||
	    is(prior, "class") || is_own(s, name))
		return NULL;
	return is(prior, ".") || is_in(name, BUILTIN) || find_bound(s, name, NULL) ? name : NULL;
}

/* In a tuple of what is asked for, or the exceptions that are caught. */
static bool is_asked_for(const struct scan *s, size_t opener)
{
	const struct token *name = called(s, opener);

	if (!opener || !is(&s->tokens[opener - 1], "("))
		return false;
	if (is_in(name, " isinstance issubclass ") || is(before(s, opener - 1, 1), "except") ||
	    is(before(s, opener - 1, 2), "class"))
		return true;
	return !is_name(before(s, opener - 1, 1)) && s->tokens[opener - 1].opener &&
	       is_in(called(s, s->tokens[opener - 1].opener), " isinstance issubclass ");
}

static bool is_loop(const struct scan *s, size_t in)
{
	for (size_t i = in; i-- > 0 && s->tokens[i].opener >= s->tokens[in].opener;) {
		if (s->tokens[i].opener != s->tokens[in].opener)
			continue;
		if (is(&s->tokens[i], "for"))
			return true;
		if (is(&s->tokens[i], "\n") || is(&s->tokens[i], ":") || is(&s->tokens[i], "="))
			return false;
	}
	return false;
}

/* A type that is only said. */
static bool is_annotation(const struct scan *s, size_t i)
{
	const struct token *opener =
		s->tokens[i].opener ? &s->tokens[s->tokens[i].opener - 1] : NULL;

	if (opener && is(opener, "[")) {
		const struct token *name = before(s, s->tokens[i].opener - 1, 1);

		return is_name(name) && !is_own(s, name) &&
		       !is_in(name, " in return yield and or not else if lambda ");
	}
	if (!is(before(s, i, 1), ":") || !is_name(before(s, i, 2)) ||
	    is_in(before(s, i, 2), " else try finally lambda "))
		return false;
	if (opener)
		return is(opener, "(") && is(before(s, s->tokens[i].opener - 1, 2), "def");
	return starts_statement(s, i - 2);
}

static bool is_argument(const struct scan *s, size_t i)
{
	const struct token *prior = before(s, i, 1), *name = called(s, s->tokens[i].opener);

	if (is_in(name, ASKING) && prior && (is(prior, "(") || is(prior, ",")))
		return true;
	if (is_in(name, CALLING) && is(prior, "("))
		return true;
	return is(prior, "=") && name && is_in(before(s, i, 2), MANNERS);
}

/* The place of the bracket that closes the one at i, or of the last token. */
static size_t closing(const struct scan *s, size_t i)
{
	size_t end = i + 1;

	while (end < s->count && s->tokens[end].opener != s->tokens[i].opener)
		end++;
	return end < s->count ? end : s->count - 1;
}

/* Between braces in a string, and named nothing there. */
static bool is_field(const struct scan *s, size_t i)
{
	const struct token *opener = before(s, i, 2);

	return is(before(s, i, 1), "{") && opener && strchr("\"'}", *opener->at);
}

/* From the chain's first token to its last. */
static bool is_harmless(const struct scan *s, size_t first, size_t last)
{
	const struct token *prior = before(s, first, 1), *next = token_at(s, last + 1);

	if (is_in(prior, NO_OPERATORS) || is(next, "is"))
		return true;
	if (is(prior, "in") && is_loop(s, first - 1))
		return is_in(&s->tokens[last], OF_WORDS);
	if (!s->has_operators && (is_in(prior, OPERATORS) || is_in(next, OPERATORS)))
		return true;
	return is_field(s, first) || is_asked_for(s, s->tokens[first].opener) ||
	       is_annotation(s, first) || is_argument(s, first);
}

static bool is_constant(const struct token *t)
{
	for (size_t i = 0; i < t->len; i++)
		if (islower((unsigned char)t->at[i]))
			return false;
	return t->len > 1;
}

static bool is_unchanging(const struct bound *b, const struct token *last, bool is_deep)
{
	if (is_in(last, UNCHANGING) || (is_constant(last) && is_in(b->module, OF_CONSTANTS)))
		return true;
	if (is_in(b->module, " numpy ") && strcspn(last->at, "0123456789") < last->len)
		return true; /* a type of its numbers */
	return islower((unsigned char)*last->at) && is_in(b->module, OF_FUNCTIONS) &&
	       (!is_deep || is_in(b->module, " numpy scipy sklearn ")) && !is_in(last, CHANGEABLE);
}

/* An element of it, from its bracket on, is assigned or deleted. */
static bool is_filled(const struct scan *s, size_t first, size_t at)
{
	while (is(token_at(s, at), "["))
		at = closing(s, at) + 1;
	const struct token *next = token_at(s, at);
	if (is_assigned_by(next) || is_in(before(s, first, 1), " del for as "))
		return true;
	if (!is_in(next, " , ) ] "))
		return false;
	for (; at < s->count && !is(&s->tokens[at], "\n"); at++)
		if (!s->tokens[at].opener && is_assigned_by(&s->tokens[at]))
			return true;
	return false;
}

/* The place of the last token of a chain of names. */
static size_t chain_end(const struct scan *s, size_t i)
{
	while (is(token_at(s, i + 1), ".") && is_name(token_at(s, i + 2)))
		i += 2;
	return i;
}

/* Whether the chain of b's name gives its part another name, or has a method that changes it. */
static bool is_handed_on(const struct scan *s, const struct bound *b, size_t i, size_t last)
{
	const struct token *next = token_at(s, last + 1);
	const struct token *name = last > i ? &s->tokens[last] : b->called;
	size_t parts = (last - i) / 2 + b->is_part;

	if (is(next, "("))
		return is_in(name, CHANGING) && parts > 1 &&
		       !is_in(&s->tokens[last - 2], " rcParams environ path ");
	if (is(next, "["))
		return parts && !is_annotation(s, i) && is_filled(s, i, last + 1) &&
		       !is_in(name, " rcParams environ ");
	return parts && !is_assigned_by(next) && !is_unchanging(b, name, parts > 1) &&
	       !is_harmless(s, i, last);
}

static bool is_any_handed_on(const struct scan *s, size_t i, size_t *ret_last)
{
	const struct bound *b = NULL;

	*ret_last = is_name(&s->tokens[i]) ? chain_end(s, i) : i;
	if (is(before(s, i, 1), "."))
		return false;
	while ((b = find_bound(s, &s->tokens[i], b)))
		if (is_handed_on(s, b, i, *ret_last))
			return true;
	return false;
}

/* What type() gave is a class, which may be a library's. */
static bool is_class_kept(const struct scan *s, size_t i)
{
	if (!is(&s->tokens[i], "type") || !is(token_at(s, i + 1), "(") ||
	    is_in(before(s, i, 1), " . def "))
		return false;
	size_t end = closing(s, i + 1);
	if (is(token_at(s, end + 1), "."))
		return !is_in(token_at(s, end + 2), " __name__ __qualname__ __module__ ");
	return !is_harmless(s, i, end) && !is(token_at(s, end + 1), "(");
}

/* --- an attribute of what a name stands for --- */

/* Its first line is no decorator's that could have made it something else. */
static bool is_plain_class(const struct scan *s, size_t i)
{
	size_t line = i - 1; /* of class */

	if (line < 2 || !is(&s->tokens[line - 1], "\n"))
		return line == 0;
	for (line--; line > 0 && !is(&s->tokens[line - 1], "\n"); line--)
		;
	return !is(&s->tokens[line], "@") ||
	       is_in(token_at(s, line + 1), " dataclass dataclasses total_ordering ");
}

/* A function that nothing has made something else of: attributes of it are its own. */
static bool is_plain_function(const struct scan *s, size_t i)
{
	size_t line = i - 1; /* of def */

	if (!is(before(s, i, 1), "def"))
		return false;
	if (is(before(s, line, 1), "async"))
		line--;
	if (line < 2 || !is(&s->tokens[line - 1], "\n"))
		return line == 0;
	for (line--; line > 0 && !is(&s->tokens[line - 1], "\n"); line--)
		;
	return !is(&s->tokens[line], "@") || is(token_at(s, line + 1), "wraps") ||
	       (is(token_at(s, line + 1), "functools") && is(token_at(s, line + 3), "wraps"));
}

static bool is_in_header(const struct scan *s, size_t i)
{
	size_t opener = s->tokens[i].opener;

	while (opener && s->tokens[opener - 1].opener)
		opener = s->tokens[opener - 1].opener;
	return opener && is(before(s, opener - 1, 2), "def");
}

/* As a parameter, or what a loop or a pattern sets; only the statement that it is in says. */
static bool is_bound_by_word(const struct scan *s, size_t i)
{
	if (is_in(before(s, i, 1), " as def import ") || is_in_header(s, i) ||
	    is(token_at(s, i + 1), ":="))
		return true;
	bool in = false;
	for (size_t at = i; at-- > 0;) {
		const struct token *t = &s->tokens[at];

		if (is(t, "\n") || is(t, ";"))
			return false;
		in = in || is(t, "in");
		if (is_in(t, " lambda case from import ") || (is(t, "for") && !in))
			return true;
	}
	return false;
}

/* A value is assigned after it in its statement, and it is no place of something's. */
static bool is_target(const struct scan *s, size_t i)
{
	if (is_in(token_at(s, i + 1), " . [ ( "))
		return false;
	for (size_t at = i + 1; at < s->count && !is_in(&s->tokens[at], " ; "); at++) {
		const struct token *t = &s->tokens[at];

		if (is(t, "\n"))
			return false;
		if (is_assigned_by(t) && (!t->opener || t->opener == s->tokens[i].opener))
			return true;
	}
	return false;
}

/* A keyword of a call's. */
static bool is_keyword(const struct scan *s, size_t i)
{
	size_t opener = s->tokens[i].opener;

	return opener && is(token_at(s, i + 1), "=") && is(&s->tokens[opener - 1], "(") &&
	       is_name(before(s, opener - 1, 1)) && is_in(before(s, i, 1), " ( , ");
}

static bool is_class_here(const struct scan *s, const struct token *name)
{
	bool found = false;

	for (size_t i = 0; i < s->count; i++) {
		if (!same(&s->tokens[i], name) || is(before(s, i, 1), "."))
			continue;
		if (is(before(s, i, 1), "class") && is_plain_class(s, i))
			found = true;
		else if (is(before(s, i, 1), "class") || is_bound_by_word(s, i) ||
			 (is_target(s, i) && !is_keyword(s, i)))
			return false;
	}
	return found;
}

/* "name = Class(...)" as a whole statement. */
static bool is_made_at(const struct scan *s, size_t i)
{
	const struct token *class = token_at(s, i + 2);

	if (!starts_statement(s, i) || !is(token_at(s, i + 1), "=") ||
	    !is(token_at(s, i + 3), "(") || !is_name(class))
		return false;
	size_t end = closing(s, i + 3) + 1;
	return is_class_here(s, class) &&
	       (end >= s->count || is_in(&s->tokens[end], " ; ") || is(&s->tokens[end], "\n"));
}

/* It never stands for anything but a class or function of the cells', or an object of one. */
static bool is_made_here(const struct scan *s, const struct token *name)
{
	bool found = is_class_here(s, name);

	if (found)
		return true;
	for (size_t i = 0; i < s->count; i++) {
		if (!same(&s->tokens[i], name) || is(before(s, i, 1), "."))
			continue;
		if (is_made_at(s, i) || is_plain_function(s, i))
			found = true;
		else if (is(before(s, i, 1), "class") || is_bound_by_word(s, i) ||
			 (is_target(s, i) && !is_keyword(s, i)))
			return false;
	}
	return found;
}

/* "name.part = ", where it could be of another's. */
static bool is_changed(const struct scan *s, size_t i)
{
	const struct token *t = &s->tokens[i];

	return is_name(t) && !is(before(s, i, 1), ".") && is(token_at(s, i + 1), ".") &&
	       is_name(token_at(s, i + 2)) && is_assigned_by(token_at(s, i + 3)) &&
	       !is_in(token_at(s, i + 4), " } ! : ") && !is_in(t, " self cls ") &&
	       !is_annotation(s, i) &&
	       (find_bound(s, t, NULL) || !is_in(token_at(s, i + 2), OWN_PARTS)) &&
	       !is_made_here(s, t);
}

bool python_parts(const char *code, size_t len, size_t *ret_start, size_t *ret_end)
{
	struct scan s = { .tokens = NULL };
	bool found = false;

	read_tokens(&s, code, len);
	for (size_t i = 0; i < s.count; i++) {
		read_import(&s, i);
		if (is(before(&s, i, 1), "def") && s.tokens[i].len > 4 &&
		    !memcmp(s.tokens[i].at, "__", 2) && !is_in(&s.tokens[i], PLAIN_METHODS))
			s.has_operators = true;
	}
	for (size_t i = 0, last; i < s.count && !found; i = last + 1) {
		size_t after = read_import(&s, i);

		last = after > i ? after - 1 : i;
		if (after > i)
			continue;
		found = is_class_kept(&s, i) || is_changed(&s, i) || is_any_handed_on(&s, i, &last);
		if (found) {
			*ret_start = (size_t)(s.tokens[i].at - code);
			*ret_end = (size_t)(s.tokens[last].at - code) + s.tokens[last].len;
		}
	}
	free(s.tokens);
	free(s.bound);
	return found;
}
