/* Two runs at once, joined. */
#ifndef NATIVE_PAIR_H
#define NATIVE_PAIR_H

#include "sandbox/native/internal.h"

/* Two interpreters that wait, joined; s->second is there. */
void pair_prepare(struct native *s, const struct sandbox_job jobs[2], const char *interpreter);
/* As sandbox_run_pair. */
int pair_run(struct native *s, const struct sandbox_job jobs[2], const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
	     struct error *err);

#endif
