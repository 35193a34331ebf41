/*
 * The profile restricted: what RestrictedPython would not compile, and modules that are not on its
 * short list (sandbox/restricted/restricted.py, which is also a sandbox), as facts of a program's
 * tree. It is read in the sandbox; the program does not run.
 */
#ifndef VERIFIER_RESTRICTED_H
#define VERIFIER_RESTRICTED_H

#include "verifier/screen/tree.h"

#define RESTRICTED_FACT "restricted: "

/* What reads programs of that language so; NULL: the profile takes none of them. */
struct embed;
const struct embed *restricted_source(const char *lang);

/* Adds to a tree that was read. What is not installed, fails or says garbage makes it TREE_FAILED,
 * which denies. Fails only as sandbox_run does. */
int restricted_read(struct sandbox *sandbox, int cancel_fd, const char *lang, const char *code,
		    size_t len, struct tree *tree, struct error *err);

#endif
