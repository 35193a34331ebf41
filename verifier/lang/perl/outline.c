/*
 * The outline of a block of Perl: its names, and what its statements do. A heuristic that may be
 * wrong; a wrong guess chooses another block, and no more.
 */
#include "verifier/lang/perl/perl.h"

#include "base/mem.h"
#include "verifier/reply/liner.h"
#include "verifier/reply/outline.h"

/* The language's own, and its functions: nobody gives them. */
static const char *const words[] = {
	"abs",	     "and",	 "atan2",     "bless",	   "binmode",	  "chdir",    "chomp",
	"chop",	     "chr",	 "close",     "closedir",  "cmp",	  "continue", "cos",
	"defined",   "delete",	 "die",	      "do",	   "each",	  "else",     "elsif",
	"eof",	     "eq",	 "eval",      "exec",	   "exists",	  "exit",     "exp",
	"fc",	     "for",	 "foreach",   "ge",	   "given",	  "gmtime",   "goto",
	"grep",	     "gt",	 "hex",	      "if",	   "index",	  "int",      "join",
	"keys",	     "last",	 "lc",	      "lcfirst",   "le",	  "length",   "local",
	"localtime", "log",	 "lt",	      "map",	   "mkdir",	  "my",	      "ne",
	"new",	     "next",	 "no",	      "not",	   "oct",	  "open",     "opendir",
	"or",	     "ord",	 "our",	      "pack",	   "package",	  "pop",      "pos",
	"print",     "printf",	 "push",      "quotemeta", "rand",	  "read",     "readdir",
	"readline",  "redo",	 "ref",	      "rename",	   "require",	  "return",   "reverse",
	"rindex",    "say",	 "scalar",    "seek",	   "select",	  "shift",    "sin",
	"sleep",     "sort",	 "splice",    "split",	   "sprintf",	  "sqrt",     "srand",
	"state",     "stat",	 "sub",	      "substr",	   "sysread",	  "system",   "syswrite",
	"tell",	     "tie",	 "time",      "uc",	   "ucfirst",	  "undef",    "unless",
	"unlink",    "unpack",	 "unshift",   "until",	   "use",	  "values",   "vec",
	"wait",	     "waitpid",	 "wantarray", "warn",	   "when",	  "while",    "write",
	"x",	     "xor",	 "BEGIN",     "END",	   "STDIN",	  "STDOUT",   "STDERR",
	"__END__",   "__DATA__", "__FILE__",  "__LINE__",  "__PACKAGE__", "constant", "parent",
	"base",	     NULL,
};
/* What a sort has, what every program has, and the pragmas. */
static const char *const builtins[] = {
	"_",	"a",	   "b",	  "ENV",  "ARGV", "INC",     "SIG",    "strict", "warnings",
	"utf8", "feature", "lib", "vars", "main", "integer", "bigint", "bignum", NULL,
};
static const char *const declares[] = { "my", "our", "local", "state", NULL };

/* --- names --- */

static bool is_function(const struct liner *l, size_t i)
{
	const struct token *t = &l->t[i], *next = liner_at(l, i + 1), *after = liner_at(l, i + 2);
	const struct token *before = i ? &l->t[i - 1] : NULL;
	bool key = token_is(next, "=") && token_is(after, ">");
	bool member = token_is(before, ">") && i > 1 && token_is(&l->t[i - 2], "-");
	bool bare = token_is(before, "{") && token_is(next, "}");

	return t->kind == TOKEN_NAME && !t->variable && !liner_is_word(l, t) && !key && !member &&
	       !bare;
}

/* "=" that gives a value, outside of brackets. */
static size_t find_assign(const struct liner *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->t[i].depth && liner_is_assign(l, i) && l->t[i].s[1] != '~')
			return i;
	return l->n;
}

/* From "my" on: the variables of one declaration. */
static void bind_declared(struct liner *l, size_t from, bool deep)
{
	const size_t depth = l->t[from].depth;
	const struct token *first = liner_at(l, from + 1);
	size_t assign = find_assign(l);
	unsigned given = token_is(liner_at(l, assign + 1), "sub") ? NAME_DEFINED : NAME_ASSIGNED;

	if (first && first->variable) {
		liner_bind(l, first, deep, given);
		return;
	}
	if (!token_is(first, "("))
		return;
	for (size_t i = from + 2; i < l->n && !(l->t[i].depth == depth && token_is(&l->t[i], ")"));
	     i++)
		if (l->t[i].variable)
			liner_bind(l, &l->t[i], deep, NAME_ASSIGNED);
}

/* The parameters of a signature, or nothing. */
static void bind_parameters(struct liner *l, size_t from)
{
	const size_t depth = token_is(liner_at(l, from), "(") ? l->t[from].depth : 0;

	if (!token_is(liner_at(l, from), "("))
		return;
	for (size_t i = from + 1; i < l->n && !(l->t[i].depth == depth && token_is(&l->t[i], ")"));
	     i++)
		if (l->t[i].variable)
			liner_note(l, &l->t[i], NAME_BOUND_INSIDE);
}

/* Each word of a text: what "use" imports, or a constant's name. */
static void bind_words(struct liner *l, const struct token *text)
{
	const char *s = text->s, *end = s + text->len;
	bool list = text->len > 2 && s[0] == 'q' && s[1] == 'w';

	for (s += list ? 2 : 1; s < end;) {
		struct token word = { .kind = TOKEN_NAME, .s = s };

		while (s < end && lex_is_word(*s))
			s++;
		word.len = (size_t)(s - word.s);
		if (word.len)
			liner_note(l, &word, NAME_BOUND | NAME_IMPORTED);
		else
			s++;
	}
}

static void bind_import(struct liner *l)
{
	bool constants = token_is(liner_at(l, 1), "constant");

	for (size_t i = 1; i < l->n; i++) {
		const struct token *t = &l->t[i];
		bool key = token_is(liner_at(l, i + 1), "=") && token_is(liner_at(l, i + 2), ">");

		if (t->kind == TOKEN_NAME && constants && key && t->depth < 2)
			liner_note(l, t, NAME_BOUND | NAME_DEFINED);
		else if (t->kind == TOKEN_NAME && i == 1 && !liner_is_word(l, t))
			liner_note(l, t, NAME_BOUND | NAME_IMPORTED);
		else if (t->kind == TOKEN_STRING && !constants)
			bind_words(l, t);
	}
}

static void bind_names(struct liner *l)
{
	if (token_is(liner_at(l, 0), "use")) {
		bind_import(l);
		return;
	}
	size_t braces = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct token *t = &l->t[i], *next = liner_at(l, i + 1);
		bool name = next && next->kind == TOKEN_NAME && !next->variable;

		braces += token_is(t, "{");
		braces -= braces && token_is(t, "}");
		if (!t->variable && liner_one_of(t, declares)) {
			bind_declared(l, i, braces > 0);
		} else if (token_is(t, "package") && !t->variable && name) {
			liner_note(l, next, NAME_BOUND | NAME_DEFINED);
		} else if (token_is(t, "sub") && !t->variable) {
			if (name) /* wherever it stands: the package's */
				liner_note(l, next, NAME_BOUND | NAME_DEFINED);
			bind_parameters(l, i + 1 + name);
		}
	}
}

/* A name with its package is that package's. */
static void use_name(struct liner *l, const struct token *t, unsigned flags)
{
	struct token package = *t;
	size_t i;

	for (i = t->len; i > 1; i--)
		if (t->s[i - 1] == ':' && t->s[i - 2] == ':')
			break;
	if (i > 1)
		package.len = i - 2;
	if (i > 1)
		package.variable = false;
	liner_note(l, &package, flags);
}

static void use_names(struct liner *l)
{
	if (token_is(liner_at(l, 0), "use") || token_is(liner_at(l, 0), "package"))
		return;
	size_t braces = 0;
	for (size_t i = 0; i < l->n; i++) {
		const struct token *t = &l->t[i];

		braces += token_is(t, "{");
		braces -= braces && token_is(t, "}");
		if (t->variable || is_function(l, i))
			use_name(l, t, braces ? NAME_USED_INSIDE : NAME_USED);
	}
}

/* --- is it a statement at all? --- */

/* Two words side by side are prose, unless the first is a function that someone gives. */
static bool is_bad(const struct liner *l, size_t i)
{
	const struct token *t = &l->t[i], *before = i ? &l->t[i - 1] : NULL;

	return i > 1 && !t->newline && !before->newline && is_function(l, i) &&
	       is_function(l, i - 1) && is_function(l, i - 2);
}

/* --- what it does --- */

static bool has_word(const struct liner *l, const char *const *list)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->t[i].variable && liner_one_of(&l->t[i], list))
			return true;
	return false;
}

/* A function that someone gives, or a method. */
static bool has_call(const struct liner *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct token *t = &l->t[i], *next = liner_at(l, i + 1);
		bool method = token_is(t, "-") && token_is(next, ">") && liner_at(l, i + 2) &&
			      l->t[i + 2].kind == TOKEN_NAME;

		if (method || (is_function(l, i) &&
			       (token_is(next, "(") || (!i && next && next->kind != TOKEN_OP) ||
				(i && token_is(&l->t[i - 1], "&")))))
			return true;
	}
	return false;
}

/* Nothing that only a program has. */
static bool is_value(const struct liner *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->t[i].variable || liner_is_word(l, &l->t[i]))
			return false;
	return !has_call(l) && find_assign(l) == l->n;
}

static void judge(struct liner *l)
{
	static const char *const quiet[] = { "my", "our", "local",   "state", "use",
					     "no", "sub", "package", "BEGIN", NULL };
	static const char *const shows[] = { "print",  "printf", "say",	  "warn", "die",
					     "system", "exec",	 "write", NULL };
	static const char *const asserts[] = { "is",	  "ok",	       "is_deeply", "isnt", "like",
					       "unlike",  "cmp_ok",    "can_ok",    "pass", "fail",
					       "subtest", "throws_ok", "isa_ok",    NULL };
	static const char *const around[] = { "use",  "no", "done_testing", "plan", "note",
					      "diag", NULL };
	const struct token *t = liner_at(l, 0);

	l->statements++;
	if (token_is(t, "}") && l->n == 1) {
		l->neutral++;
		return;
	}
	l->tests += liner_one_of(t, asserts);
	l->neutral += liner_one_of(t, around);
	if (token_is(t, "sub") || token_is(t, "package"))
		l->o->defines = true;
	else if (is_value(l))
		l->values++;
	if (!liner_one_of(t, quiet) &&
	    (has_word(l, shows) || (has_call(l) && find_assign(l) == l->n)))
		l->o->visible = true;
}

static void statement(struct liner *l)
{
	liner_judge_form(l, is_bad);
	bind_names(l);
	use_names(l);
	judge(l);
}

const struct outline_row perl_outline = {
	.tokens = { .quotes = "", .prefixes = "", .special = perl_special, .text = perl_text },
	.words = words,
	.builtins = builtins,
	.statement = statement,
};
