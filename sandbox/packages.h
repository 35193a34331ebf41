/*
 * Which packages a program imports, or will, as far as its text tells: an interpreter that waits
 * may have imported them. A set of packages is a number, a bit for each row of the language's table
 * (language_probe.packages).
 */
#ifndef SANDBOX_PACKAGES_H
#define SANDBOX_PACKAGES_H

#include "sandbox/probe.h"

#include <stddef.h>

/* Those that a program imports before it does anything else, and what these import themselves:
 * whether they were there already makes no difference to it. */
unsigned packages_imported(const struct language *language, const char *code, size_t len);
/* Those that a text speaks of, as a plan does, or names of files. */
unsigned packages_spoken_of(const struct language *language, const char *text, size_t len);
/* Of these those that are installed, by what an environment says of itself ("numpy 1.24.2, ...").
 */
unsigned packages_installed(const struct language *language, unsigned packages, const char *said);
/* The modules to import for them, by comma, for the caller to free; NULL for none. */
char *packages_modules(const struct language *language, unsigned packages);

#endif
