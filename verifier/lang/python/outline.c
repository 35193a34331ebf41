/*
 * The outline of a block of Python: its layout, its names, what its statements do. A heuristic
 * that may be wrong; a wrong guess chooses another block, and no more.
 */
#include "verifier/lang/python/python.h"

#include "base/mem.h"
#include "verifier/reply/liner.h"
#include "verifier/reply/outline.h"

#include <string.h>
#include <strings.h>

static const char *const words[] = {
	"and",	  "as",	  "assert", "async",  "await",	  "break", "class", "continue", "def",
	"del",	  "elif", "else",   "except", "finally",  "for",   "from",  "global",	"if",
	"import", "in",	  "is",	    "lambda", "nonlocal", "not",   "or",    "pass",	"raise",
	"return", "try",  "while",  "with",   "yield",	  NULL,
};
static const char *const builtins[] = {
	"input", "sum", "max",	 "min",	  "list", "dict",   "str",    "int",
	"float", "len", "range", "print", "map",  "filter", "sorted", "id",
	"type",	 "set", "iter",	 "next",  "open", "hash",   "abs",    "all",
	"any",	 "pow", "round", "zip",	  "self", "_",	    NULL,
};

/* --- names --- */

/* The names of a target list before `end`. */
static void bind_targets(struct liner *l, size_t from, size_t end, unsigned given)
{
	for (size_t i = from; i < end; i++) {
		const struct token *next = liner_at(l, i + 1);

		if (liner_is_plain(l, i) && !token_is(next, ".") && !token_is(next, "[") &&
		    !token_is(next, "("))
			liner_bind(l, &l->t[i], liner_inside(l), given);
	}
}

static size_t find_word(const struct liner *l, size_t from, const char *word)
{
	while (from < l->n && !token_is(&l->t[from], word))
		from++;
	return from;
}

static void bind_import(struct liner *l)
{
	bool from = token_is(liner_at(l, 0), "from");
	size_t i = from ? find_word(l, 0, "import") : 0;

	for (i++; i < l->n; i++) {
		const struct token *next = liner_at(l, i + 1);

		if (liner_is_plain(l, i) && !token_is(next, "as"))
			liner_bind(l, &l->t[i], liner_inside(l), NAME_IMPORTED);
	}
}

/* Parameters: names in the head that follow a bracket, a comma or a star. */
static void bind_parameters(struct liner *l, size_t from, const char *end)
{
	unsigned outside = NAME_BOUND | NAME_BOUND_INSIDE; /* a lambda's */
	size_t depth = l->t[from].depth;

	if (liner_inside(l) || *end == ')')
		outside = NAME_BOUND_INSIDE;
	for (size_t i = from + 1; i < l->n && !(l->t[i].depth == depth && token_is(&l->t[i], end));
	     i++)
		if (liner_is_plain(l, i) &&
		    (token_is(&l->t[i - 1], "(") || token_is(&l->t[i - 1], ",") ||
		     token_is(&l->t[i - 1], "*") || i == from + 1))
			liner_note(l, &l->t[i], outside);
}

static void bind_names(struct liner *l, size_t head)
{
	size_t assign = liner_find_assign(l);

	if (token_is(liner_at(l, 0), "import") || token_is(liner_at(l, 0), "from")) {
		bind_import(l);
		return;
	}
	if (assign < l->n && !liner_is_word(l, liner_at(l, 0))) {
		size_t i = find_word(l, 0, ":"); /* a type before the value */
		bind_targets(l, 0, i < assign && !l->t[i].depth ? i : assign, NAME_ASSIGNED);
	} else if (assign < l->n && assign) {
		bind_targets(l, assign - 1, assign, NAME_ASSIGNED);
	}
	for (size_t i = 0; i < l->n; i++) {
		if (token_is(&l->t[i], "def") || token_is(&l->t[i], "class")) {
			if (i + 1 < l->n)
				liner_bind(l, &l->t[i + 1], liner_inside(l),
					   i == head ? NAME_DEFINED : 0);
			if (token_is(&l->t[i], "def") && i + 2 < l->n)
				bind_parameters(l, i + 2, ")");
		} else if (token_is(&l->t[i], "for")) {
			bind_targets(l, i + 1, find_word(l, i, "in"), 0);
		} else if (token_is(&l->t[i], "as")) {
			bind_targets(l, i + 1, i + 2 < l->n ? i + 2 : l->n, NAME_ASSIGNED);
		} else if (token_is(&l->t[i], "lambda")) {
			bind_parameters(l, i, ":");
		} else if (token_is(liner_at(l, i + 1), ":") && token_is(liner_at(l, i + 2), "=")) {
			liner_bind(l, &l->t[i], liner_inside(l), 0);
		}
	}
}

static void use_names(struct liner *l, size_t head)
{
	bool deep = liner_inside(l) ||
		    token_is(liner_at(l, head), "def"); /* its parameters are there */

	for (size_t i = 0; i < l->n; i++) {
		const struct token *t = &l->t[i], *next = liner_at(l, i + 1);
		bool key = t->depth && next && liner_is_assign(l, i + 1);

		if (!key && liner_is_plain(l, i))
			liner_note(l, t, deep ? NAME_USED_INSIDE : NAME_USED);
	}
}

/* --- is it a statement at all? --- */

/* Two values side by side are prose, or another language. */
static bool side_by_side(const struct liner *l, size_t i)
{
	static const char *const soft[] = { "match", "case", "type", NULL };
	const struct token *t = &l->t[i], *before = &l->t[i - 1];
	bool ends = liner_is_operand(l, before) || token_is(before, ")") || token_is(before, "]") ||
		    token_is(before, "}");

	return ends && liner_is_operand(l, t) &&
	       !(before->kind == TOKEN_STRING && t->kind == TOKEN_STRING) &&
	       !(i == 1 && liner_one_of(before, soft));
}

/* An operator where a value should be: at the start, before a colon, at the end. */
static bool is_stray(const struct liner *l, size_t i)
{
	static const char *const between[] = { "is", "in", "and", "or", "not", NULL };
	const struct token *t = &l->t[i], *next = liner_at(l, i + 1);

	if (!i && t->kind == TOKEN_OP && strchr("|/%&^=<>,:", *t->s))
		return true;
	return liner_one_of(t, between) && (!next || token_is(next, ":"));
}

static bool is_bad(const struct liner *l, size_t i)
{
	const struct token *t = &l->t[i];

	return (i && side_by_side(l, i)) || is_stray(l, i) ||
	       (t->kind == TOKEN_OP && (strchr("?`", *t->s) || (*t->s == '!' && t->s[1] != '=')));
}

/* --- the layout --- */

static bool is_compound(const struct token *t)
{
	static const char *const heads[] = { "if",  "elif",   "else",	 "for", "while", "with",
					     "try", "except", "finally", "def", "class", NULL };

	return liner_one_of(t, heads);
}

static void indent(struct liner *l, size_t column)
{
	size_t here = l->level ? l->levels[l->level - 1].column : 0;

	if (!l->level) {
		l->o->indented = column > 0;
		if (column)
			liner_fault(l, "it starts in the middle of something");
		l->levels[l->level++] = (struct level){ column, false, false };
		return;
	}
	if (l->wants_suite && column > here) {
		l->next.column = column;
		if (l->level < LEVELS_MAX)
			l->levels[l->level++] = l->next;
		return;
	}
	if (l->wants_suite || column > here)
		liner_fault(l, l->wants_suite ? "a line in it lacks what should be below it" :
						"its indentation does not fit");
	while (l->level > 1 && l->levels[l->level - 1].column > column)
		l->level--;
	if (l->levels[l->level - 1].column != column)
		liner_fault(l, "its indentation does not fit");
}

static bool has_colon(const struct liner *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->t[i].depth && token_is(&l->t[i], ":"))
			return true;
	return false;
}

static void suite_of(struct liner *l, size_t head)
{
	const struct token *t = liner_at(l, head);
	bool function = token_is(t, "def");
	struct level here = l->levels[l->level - 1];

	if (is_compound(t) && !has_colon(l))
		liner_fault(l, "a line of it lacks its colon");
	if (token_is(t, "return") && !here.function)
		liner_fault(l, "it returns outside a function");
	l->wants_suite = token_is(&l->t[l->n - 1], ":") && !l->t[l->n - 1].depth;
	l->next = (struct level){ 0, here.inside || function || token_is(t, "class"),
				  here.function || function };
}

/* --- what it does --- */

/* A call of anything but a class: what a repr prints looks like such a call. */
static bool calls_function(const struct liner *l)
{
	for (size_t i = 1; i < l->n; i++) {
		char c = l->t[i - 1].s[0];

		if (token_is(&l->t[i], "(") && l->t[i - 1].kind == TOKEN_NAME &&
		    !liner_is_word(l, &l->t[i - 1]) && !(c >= 'A' && c <= 'Z'))
			return true;
	}
	return false;
}

static bool is_test_like(const struct token *name)
{
	return name && name->kind == TOKEN_NAME &&
	       ((name->len > 4 && !strncasecmp(name->s, "test", 4)) ||
		(name->len > 4 && !memcmp(name->s + name->len - 4, "Test", 4)));
}

static void judge(struct liner *l, size_t head)
{
	const struct token *t = liner_at(l, head);
	bool definition = token_is(t, "def") || token_is(t, "class");
	bool margin = l->level == 1;
	size_t assign = liner_find_assign(l);

	if (liner_inside(l))
		return;
	l->statements++;
	l->last_is_value = false;
	if (margin)
		l->o->open_suite = definition;
	if (definition) {
		l->o->defines = true;
		l->tests += is_test_like(liner_at(l, head + 1));
	} else if (token_is(t, "@") || token_is(t, "import") || token_is(t, "from") ||
		   token_is(t, "unittest") || token_is(t, "pytest") ||
		   (token_is(t, "if") && token_is(liner_at(l, head + 1), "__name__"))) {
		l->neutral++;
	} else if (liner_is_word(l, t) && !token_is(t, "not") && !token_is(t, "lambda")) {
		if (!token_is(&l->t[l->n - 1], ":") && is_compound(t) && liner_has_call(l))
			l->o->visible = true;
		if (token_is(t, "await"))
			l->o->visible = true;
	} else if (assign < l->n) {
		l->values += !liner_has_call(l);
	} else {
		l->last_is_value = true;
		l->values += !calls_function(l);
		if (liner_has_call(l))
			l->o->visible = true;
	}
}

static void statement(struct liner *l)
{
	size_t head = l->n > 1 && token_is(liner_at(l, 0), "async") ? 1 : 0;

	liner_judge_form(l, is_bad);
	if (l->t[0].newline)
		indent(l, l->t[0].column);
	suite_of(l, head);
	bind_names(l, head);
	use_names(l, head);
	judge(l, head);
}

const struct outline_row python_outline = {
	.tokens = { .quotes = "\"'",
		    .prefixes = "rbfuRBFU",
		    .triple = true,
		    .formats = true,
		    .continues = true },
	.words = words,
	.builtins = builtins,
	.statement = statement,
};
