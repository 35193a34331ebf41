/* What a guest left at the far end of a stream, as a list (protocol_left). */
#ifndef NATIVE_ARTIFACT_LIST_H
#define NATIVE_ARTIFACT_LIST_H

#include "sandbox/sandbox.h"

/* Adds what the list says to the result. A list that breaks off, names what no guest's folder can
 * hold, or gives more than the limits of the job allow, is refused whole. */
int artifact_read_list(int list, const struct sandbox_job *job, struct sandbox_result *result,
		       struct error *err);

#endif
