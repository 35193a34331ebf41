/*
 * Programs of ours as code: harnesses and readers are some thousand lines, and to compile
 * them costs an interpreter as long as to start. So they are compiled once for each
 * environment, by the interpreter at hand, in the sandbox, and started from there.
 *
 * The code is kept in the sandbox's cache_dir under the digest of what it was made of: the
 * text, its name, the compiler's source and the environment. No guest can write it. What is
 * not as it was stored, or is another user's to write, is made anew; where nothing can be
 * made, the text is started as before. The record tells of the text: only the live end starts code.
 */
#ifndef VERIFIER_COMPILED_H
#define VERIFIER_COMPILED_H

#include "sandbox/sandbox.h"

#include <stdbool.h>

struct code;

/* What a job of code points at. */
struct compiled {
	struct sandbox_file *extras; /* owned */
	char *bytes;		     /* owned */
	struct code *code; /* what the job has to run ahead is of it; it is kept meanwhile */
};

/*
 * The job started from code instead of the text that it starts, which must be ours: its
 * entry, or without one its program. It is as it was when its language has no compiler, when
 * the text is short, or when there is no code to be had. Owns what the job then points at
 * until compiled_release.
 */
void compiled_job(struct sandbox *sandbox, struct sandbox_job *job, struct compiled *ret);
void compiled_release(struct compiled *c);
/* How many texts' code this process has at hand: so many at most, but for those in use. */
#define COMPILED_KNOWN_MAX ((size_t)32)
size_t compiled_known(void);
#define cleanup_compiled __attribute__((cleanup(compiled_release)))

#endif
