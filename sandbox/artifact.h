/* What a guest left behind, taken from a folder of the host. */
#ifndef SANDBOX_ARTIFACT_H
#define SANDBOX_ARTIFACT_H

#include "sandbox/sandbox.h"

/* Collects what is in out/ and work/ of the guest's disk, within the limits of the
 * job. Never follows a link. */
int artifact_collect(int disk, const struct sandbox_job *job, struct sandbox_result *result,
		     struct error *err);

#endif
