/*
 * The outline of a block of JavaScript: its names, and what its statements do. A heuristic that
 * may be wrong; a wrong guess chooses another block, and no more.
 */
#include "verifier/lang/javascript/javascript.h"

#include "base/mem.h"
#include "verifier/reply/liner.h"
#include "verifier/reply/outline.h"

static const char *const words[] = {
	"as",	  "async",    "await",	  "break",	"case",	  "catch",    "class",
	"const",  "continue", "debugger", "default",	"delete", "do",	      "else",
	"export", "extends",  "finally",  "for",	"from",	  "function", "get",
	"if",	  "import",   "in",	  "instanceof", "let",	  "new",      "of",
	"return", "set",      "static",	  "switch",	"throw",  "try",      "typeof",
	"var",	  "void",     "while",	  "with",	"yield",  NULL,
};
static const char *const builtins[] = {
	"input", "sum",	 "max",	   "min",   "list",    "dict",	  "str",     "int",
	"float", "len",	 "range",  "print", "map",     "filter",  "sorted",  "id",
	"type",	 "set",	 "iter",   "next",  "open",    "hash",	  "abs",     "all",
	"any",	 "pow",	 "round",  "zip",   "console", "process", "require", "module",
	"Math",	 "JSON", "Object", "Array", "self",    "this",	  "_",	     NULL,
};

/* --- names --- */

static bool is_declaration(const struct token *t)
{
	return token_is(t, "const") || token_is(t, "let") || token_is(t, "var");
}

/* What the name declared before the "=" at i is to others. */
static unsigned declared_kind(const struct liner *l, size_t i)
{
	const struct token *value = liner_at(l, i + 1);

	if (token_is(value, "require"))
		return NAME_IMPORTED;
	if (token_is(value, "function") || token_is(value, "async") || token_is(value, "class"))
		return NAME_DEFINED;
	for (i++; i + 1 < l->n; i++)
		if (!l->t[i].depth && token_is(&l->t[i], "=") && token_is(&l->t[i + 1], ">"))
			return NAME_DEFINED;
	return NAME_ASSIGNED;
}

static void bind_declared(struct liner *l, size_t from)
{
	size_t depth = l->t[from].depth, end;

	for (end = from + 1; end < l->n && !token_is(&l->t[end], "=") &&
			     !token_is(&l->t[end], ";") && !token_is(&l->t[end], "of");
	     end++)
		;
	for (size_t i = from + 1; i < end; i++)
		if (liner_is_plain(l, i))
			liner_note(l, &l->t[i],
				   depth ? NAME_BOUND_INSIDE : NAME_BOUND | declared_kind(l, end));
}

static void bind_names(struct liner *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct token *t = &l->t[i], *next = liner_at(l, i + 1), *name = next;

		if (is_declaration(t)) {
			bind_declared(l, i);
		} else if (token_is(t, "function") || token_is(t, "class")) {
			if (token_is(name, "*"))
				name = liner_at(l, i + 2);
			if (name && name->kind == TOKEN_NAME)
				liner_bind(l, name, name->depth > 0, NAME_DEFINED);
		} else if (token_is(t, "import") && !t->depth) {
			for (size_t end = i + 1; end < l->n && l->t[end].kind != TOKEN_STRING;
			     end++)
				if (liner_is_plain(l, end))
					liner_note(l, &l->t[end], NAME_BOUND | NAME_IMPORTED);
		} else if (liner_is_plain(l, i) &&
			   (token_is(next, ",") || token_is(next, ")") || token_is(next, "=")) &&
			   t->depth) {
			liner_note(l, t, NAME_BOUND_INSIDE); /* perhaps a parameter */
		}
	}
}

static void use_names(struct liner *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct token *t = &l->t[i], *next = liner_at(l, i + 1);
		bool used = token_is(next, "(") || token_is(next, ".") ||
			    (i && token_is(&l->t[i - 1], "new"));

		if (used && liner_is_plain(l, i))
			liner_note(l, t, t->depth ? NAME_USED_INSIDE : NAME_USED);
	}
}

/* Two values side by side are prose, or another language. */
static bool is_bad(const struct liner *l, size_t i)
{
	const struct token *t = &l->t[i], *before = i ? &l->t[i - 1] : NULL;

	return before && liner_is_operand(l, before) && liner_is_operand(l, t) && !t->newline &&
	       before->kind != TOKEN_STRING && t->kind != TOKEN_STRING;
}

/* --- what it does --- */

static void judge(struct liner *l)
{
	static const char *const quiet[] = { "const", "let",	"var",	  "function", "class",
					     "async", "import", "export", NULL };

	l->statements++;
	if (liner_one_of(liner_at(l, 0), quiet)) {
		l->o->defines = l->o->defines || token_is(liner_at(l, 0), "function") ||
				token_is(liner_at(l, 0), "class") ||
				token_is(liner_at(l, 0), "async");
		for (size_t i = 0; i < l->n; i++)
			if (token_is(&l->t[i], "=") && token_is(liner_at(l, i + 1), ">"))
				l->o->defines = true;
		l->values += !liner_has_call(l) && is_declaration(liner_at(l, 0)) && !l->o->defines;
	} else if (liner_find_assign(l) == l->n) {
		if (liner_has_call(l))
			l->o->visible = true;
		else
			l->values++;
	}
}

static void statement(struct liner *l)
{
	liner_judge_form(l, is_bad);
	bind_names(l);
	use_names(l);
	judge(l);
}

const struct outline_row javascript_outline = {
	.tokens = { .quotes = "\"'`", .prefixes = "", .regex = true },
	.words = words,
	.builtins = builtins,
	.statement = statement,
};
