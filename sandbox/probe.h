/*
 * What a language's row (sandbox/language.c) knows of its interpreter beyond how it is
 * started: how it is asked for its version and packages, and which environment it wants.
 * For backends and for what speaks of packages.
 */
#ifndef SANDBOX_PROBE_H
#define SANDBOX_PROBE_H

#include "sandbox/sandbox.h"

/* What of a language a user may have of their own (--python, --node-modules). */
enum language_own { LANGUAGE_OWN_NOTHING, LANGUAGE_OWN_INTERPRETER, LANGUAGE_OWN_MODULES };

/* A package that takes long to import: a template may have it. */
struct language_package {
	const char *name;	  /* that programs import; NULL: past the end */
	unsigned needs;		  /* those before it that it imports itself, a bit each */
	const char *modules;	  /* what to import, by comma */
	const char *const *words; /* of a plan or of files' names that speak of it */
};

struct language_probe {
	/* Run in the sandbox, it prints {"version", "packages": [[name, version]],
	 * "watch": [folder]}: a change below a watched folder is another environment. */
	const char *code;
	const char *const *dpkg;    /* prefixes of Debian packages that are part of it; the
				     * first is what to install; NULL-terminated */
	const char *const *notable; /* packages worth naming to a model, most useful first;
				     * empty: none are looked for; NULL-terminated */
	/* "NAME=value": every run has it, whatever its language, since a program may start
	 * another; NULL-terminated. */
	const char *const *env;
	/* Whether it may be started before its program is there, and wait to open that, so
	 * that the program cannot tell: the flags with which it can, NULL-terminated; NULL:
	 * it cannot. A program whose first two lines, or a file beside it whose name, is
	 * among these would be read in another way: words, names; NULL-terminated. */
	const char *const *waits;
	const char *const *waits_not_with;
	const char *const *waits_not_beside;
	/* It reads its program as it runs: it waits for the file itself, not for a fifo in its
	 * place. And words of the whole text of a program that could tell since when it waits;
	 * NULL: none. */
	bool waits_for_file;
	const char *const *waits_not_in;
	/* Where there is an object that makes a template of it: a program may run in a fork of one
	 * that has started and imported what programs commonly do, unless it has a word by which
	 * it would look for what is there already, or be no script; NULL-terminated; NULL: never.
	 */
	const char *const *forks_not_with;
	const struct language_package *packages; /* NULL: none */
	enum language_own own;
};

const struct language_probe *language_probe(const struct language *language);

#endif
