/* What comes after what. */
#ifndef NATIVE_FORESIGHT_H
#define NATIVE_FORESIGHT_H

#include "sandbox/native/internal.h"

/* Notes that these, one or a pair, have run; and prepares what came after them last time. */
void foresight_note(struct native *s, const struct sandbox_job *jobs, size_t count,
		    const char *interpreter);
void foresight_release(struct native *s);

#endif
