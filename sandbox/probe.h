/*
 * What a language's row (sandbox/language.c) knows of its interpreter beyond how it is
 * started: how it is asked for its version and packages, and which environment it wants.
 * For backends and for what speaks of packages.
 */
#ifndef SANDBOX_PROBE_H
#define SANDBOX_PROBE_H

#include "sandbox/sandbox.h"

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
};

const struct language_probe *language_probe(const struct language *language);

#endif
