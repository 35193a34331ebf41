/* How the inputs of a job that are sources are seen. */
#ifndef NATIVE_SHARE_H
#define NATIVE_SHARE_H

#include "sandbox/native/internal.h"
#include "sandbox/native/payload.h"

/* Has the sources of a job mounted for it. What could not be is no error: it is copied. */
int share_inputs(struct native *s, const struct sandbox_job *job, struct input_share *ret,
		 struct error *err);
void input_share_release(struct input_share *shared);
/* For the record: how many in which way. */
void input_share_describe(const struct input_share *shared, struct buf *out);

#endif
