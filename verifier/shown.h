/*
 * Figures that a program only shows (plt.show()) are kept as files: beside the
 * program lies a module that its interpreter imports first.
 */
#ifndef VERIFIER_SHOWN_H
#define VERIFIER_SHOWN_H

#include "sandbox/sandbox.h"

struct shown {
	struct sandbox_file module;
	const char **env; /* owned */
	char *paths;	  /* the last of them; owned */
};

/* Adds to a job that has no extras what its program needs for it; nothing when it draws
 * nothing. *ret must outlive the run. */
void shown_prepare(struct shown *ret, struct sandbox_job *job);
void shown_release(struct shown *s);
#define cleanup_shown __attribute__((cleanup(shown_release)))

#endif
