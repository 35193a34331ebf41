/*
 * What a block of code is good for, told without running it: whether it can be
 * a whole program, whether it would show anything, which names it gives and
 * which it needs. Of a language whose row has no outline nothing is known.
 *
 * A heuristic and no parser, on purpose: the parser lives in the sandbox and
 * costs a process for every reply, while a wrong guess here only chooses
 * another block, or none.
 */
#ifndef VERIFIER_OUTLINE_H
#define VERIFIER_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>

enum name_flags {
	NAME_BOUND = 1,	       /* at the top level */
	NAME_BOUND_INSIDE = 2, /* in a function or class only */
	NAME_USED = 4,
	NAME_USED_INSIDE = 8,
	NAME_DEFINED = 16,  /* given to others: a function or class */
	NAME_IMPORTED = 32, /* given to others: by an import */
	NAME_ASSIGNED = 64, /* given to others: a value */
};
#define NAME_GIVEN (NAME_DEFINED | NAME_IMPORTED | NAME_ASSIGNED)

struct outline_name {
	const char *s; /* in the code */
	size_t len;
	bool variable; /* of a language where a function may have the same name */
	unsigned flags;
};

struct outline {
	bool known;		    /* the rest says something */
	const char *fault;	    /* why it cannot be a whole program; static; or NULL */
	bool indented;		    /* it starts inside something else */
	bool open_suite;	    /* its last statement at the margin is a class or function */
	bool defines;		    /* functions or classes */
	bool visible;		    /* a statement outside of them that can show something */
	bool values_only;	    /* values and nothing that computes: output, or data */
	bool tests;		    /* test functions or test cases and nothing else */
	struct outline_name *names; /* a hash table; owned */
	size_t capacity, count;
	const char *const *builtins; /* of the language */
};

void outline_read(const char *lang, const char *code, size_t len, struct outline *ret);
void outline_release(struct outline *o);

/* The first name that outlines[later] needs and outlines[earlier] gives, whose
 * kind is in flags, and that none of the blocks taken between them gives; NULL
 * when there is none. taken may be NULL. */
const struct outline_name *outline_missing(const struct outline *outlines, const bool *taken,
					   size_t later, size_t earlier, unsigned flags);

#endif
