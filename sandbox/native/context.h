/* Jobs whose state is kept, or copied. */
#ifndef NATIVE_CONTEXT_H
#define NATIVE_CONTEXT_H

#include "sandbox/native/internal.h"

/* Whether a job is one whose state can be kept here, or copied. */
bool context_takes(const struct native *s, const struct sandbox_job *job);
/* Runs such a one. */
int context_run(struct native *s, const struct sandbox_job *job, const char *interpreter,
		const struct sandbox_watch *watch, struct sandbox_result *ret_result,
		struct error *err);
void contexts_forget(void *self, const char *id); /* as sandbox_forget_state */
void contexts_finish(const struct native *s);
void contexts_release(struct native *s);

#endif
