/* One run. */
#ifndef NATIVE_RUN_H
#define NATIVE_RUN_H

#include "sandbox/native/pump.h"

/* Carries what is there, of all of them: again and again until each keeper has reported; by then
 * every process of its run is dead, or holds a state (context.c). */
int run_step(struct pump *pumps, size_t count, struct error *err);

/* A job in an interpreter that is known. */
int run_bare(struct native *s, const struct sandbox_job *job, const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result *ret_result,
	     struct error *err);
/* A limit that the place where it runs cannot hold, it does not have: ERR_USAGE. */
int run_check_memory(const struct native *s, const struct sandbox_job *job, struct error *err);
/* What serves one run has served it. */
void run_leave_single(struct native *s);

#endif
