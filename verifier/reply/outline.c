/* The machine of an outline: statements, names and what they come to. What a statement
 * means is its language's to say (verifier/lang/NAME/outline.c). No language is known here. */
#include "verifier/reply/outline.h"

#include "base/mem.h"
#include "verifier/lang/lang.h"
#include "verifier/reply/liner.h"

#include <stdlib.h>
#include <string.h>

/* Blocks longer than this, and names beyond these, are not looked at. */
#define OUTLINE_BYTES_MAX ((size_t)256 << 10)
#define NAMES_CAPACITY	  4096

/* --- names --- */

static struct outline_name *slot(const struct outline *o, const char *s, size_t len, bool variable)
{
	size_t i, hash = 5381;

	for (i = 0; i < len; i++)
		hash = hash * 33 + (unsigned char)s[i];
	for (i = hash % o->capacity; o->names[i].s; i = (i + 1) % o->capacity)
		if (o->names[i].len == len && o->names[i].variable == variable &&
		    !memcmp(o->names[i].s, s, len))
			break;
	return &o->names[i];
}

void liner_note(struct liner *l, const struct token *t, unsigned flags)
{
	struct outline_name *name = slot(l->o, t->s, t->len, t->variable);

	if (!name->s) {
		if (l->o->count >= l->o->capacity / 2)
			return;
		l->o->count++;
		*name = (struct outline_name){ t->s, t->len, t->variable, 0 };
	}
	name->flags |= flags;
}

bool liner_one_of(const struct token *t, const char *const *words)
{
	for (; t && t->kind == TOKEN_NAME && *words; words++)
		if (token_is(t, *words))
			return true;
	return false;
}

bool liner_is_word(const struct liner *l, const struct token *t)
{
	return liner_one_of(t, l->row->words);
}

/* Names that are there without anyone's help. */
static bool is_builtin(const struct outline *o, const struct outline_name *name)
{
	for (const char *const *word = o->builtins; *word; word++)
		if (strlen(*word) == name->len && !memcmp(*word, name->s, name->len))
			return true;
	return false;
}

static bool gives(const struct outline *o, const struct outline_name *name, unsigned flags)
{
	return o->known && slot(o, name->s, name->len, name->variable)->flags & flags;
}

const struct outline_name *outline_missing(const struct outline *outlines, const bool *taken,
					   size_t later, size_t earlier, unsigned flags)
{
	const struct outline *l = &outlines[later], *e = &outlines[earlier];

	for (size_t i = 0; l->known && e->known && i < l->capacity; i++) {
		const struct outline_name *name = &l->names[i];
		unsigned f = name->flags;
		bool missing = (f & NAME_USED && !(f & NAME_BOUND)) ||
			       (f & NAME_USED_INSIDE && !(f & (NAME_BOUND | NAME_BOUND_INSIDE)));

		if (!name->s || !missing || is_builtin(l, name))
			continue;
		size_t k;
		for (k = earlier + 1; k < later; k++)
			if (taken && taken[k] && gives(&outlines[k], name, NAME_GIVEN))
				break;
		if (k >= later && gives(e, name, flags))
			return name;
	}
	return NULL;
}

/* --- one statement --- */

const struct token *liner_at(const struct liner *l, size_t i)
{
	return i < l->n ? &l->t[i] : NULL;
}

bool liner_inside(const struct liner *l)
{
	return l->level && l->levels[l->level - 1].inside;
}

/* Deep: it is seen inside a function or class only. */
void liner_bind(struct liner *l, const struct token *t, bool deep, unsigned given)
{
	liner_note(l, t, deep ? NAME_BOUND_INSIDE : NAME_BOUND | given);
}

/* A single "=", which is part of no other operator. */
bool liner_is_assign(const struct liner *l, size_t i)
{
	const struct token *t = liner_at(l, i), *before = i ? liner_at(l, i - 1) : NULL;

	if (!token_is(t, "=") || t->s[1] == '=' || t->s[1] == '>')
		return false;
	return !before || before->s + 1 != t->s || before->kind != TOKEN_OP ||
	       !strchr("=!<>", *before->s);
}

size_t liner_find_assign(const struct liner *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->t[i].depth && liner_is_assign(l, i))
			return i;
	return l->n;
}

/* A name that stands for itself: no member, no key of an argument. */
bool liner_is_plain(const struct liner *l, size_t i)
{
	const struct token *before = i ? liner_at(l, i - 1) : NULL;

	return l->t[i].kind == TOKEN_NAME && !liner_is_word(l, &l->t[i]) &&
	       (!token_is(before, ".") || l->t[i].inner || (i > 1 && token_is(&l->t[i - 2], ".")));
}

bool liner_is_operand(const struct liner *l, const struct token *t)
{
	return t->kind != TOKEN_OP && !liner_is_word(l, t);
}

bool liner_has_call(const struct liner *l)
{
	for (size_t i = 1; i < l->n; i++)
		if (token_is(&l->t[i], "(") &&
		    (l->t[i - 1].kind == TOKEN_NAME || token_is(&l->t[i - 1], ")") ||
		     token_is(&l->t[i - 1], "]")) &&
		    !liner_is_word(l, &l->t[i - 1]))
			return true;
	return false;
}

void liner_fault(struct liner *l, const char *what)
{
	if (!l->o->fault)
		l->o->fault = what;
}

/* Says a fault of l when is_bad finds one in the statement without what is inside strings. */
void liner_judge_form(struct liner *l, bool (*is_bad)(const struct liner *bare, size_t i))
{
	struct liner bare = *l;
	cleanup_free struct token *outer = mem_alloc(l->n * sizeof(*outer));

	bare.t = outer;
	bare.n = 0;
	for (size_t i = 0; i < l->n; i++)
		if (!l->t[i].inner)
			outer[bare.n++] = l->t[i];
	for (size_t i = 0; i < bare.n; i++)
		if (is_bad(&bare, i))
			liner_fault(l, "a line of it is no statement");
}

/* --- all --- */

/* Where the statement that starts at i ends. */
static size_t statement_end(const struct token_list *list, size_t i)
{
	size_t end;

	for (end = i + 1; end < list->count; end++) {
		const struct token *t = &list->tokens[end];

		bool closes = t->kind == TOKEN_OP && strchr(")]}", *t->s);

		if (!t->depth && !t->inner && !closes && (t->newline || token_is(t, ";")))
			break;
	}
	return end;
}

static void finish(struct liner *l)
{
	struct outline *o = l->o;

	if (l->wants_suite)
		liner_fault(l, "it ends where something should follow");
	if (!l->statements)
		liner_fault(l, "it is comments only");
	o->values_only = l->statements && l->values == l->statements;
	o->tests = l->tests && l->tests + l->neutral == l->statements;
	if (l->last_is_value && !o->values_only)
		o->visible = true;
}

void outline_read(const char *lang, const char *code, size_t len, struct outline *ret)
{
	const struct lang *row = lang_find(lang);
	cleanup_tokens struct token_list list = { .count = 0 };
	struct liner l = { .o = ret, .row = row ? row->outline : NULL };

	*ret = (struct outline){ .visible = true };
	if (!l.row || len > OUTLINE_BYTES_MAX)
		return;
	*ret = (struct outline){ .known = true,
				 .capacity = NAMES_CAPACITY,
				 .builtins = l.row->builtins };
	ret->names = mem_alloc(ret->capacity * sizeof(*ret->names));
	token_read(lang, &l.row->tokens, code, len, &list);
	ret->fault = list.fault;
	size_t end;
	for (size_t i = 0; i < list.count; i = end) {
		end = statement_end(&list, i);
		i += token_is(&list.tokens[i], ";");
		l.t = list.tokens + i;
		l.n = end - i;
		if (l.n)
			l.row->statement(&l);
	}
	finish(&l);
}

void outline_release(struct outline *o)
{
	free(o->names);
	*o = (struct outline){ .known = false };
}
