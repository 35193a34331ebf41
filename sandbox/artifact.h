/* What a guest left behind: taken from a folder of the host, or told by what looked at one. */
#ifndef SANDBOX_ARTIFACT_H
#define SANDBOX_ARTIFACT_H

#include "sandbox/sandbox.h"

#include <sys/types.h>

#define ARTIFACT_DEPTH_MAX   16
#define ARTIFACT_ENTRIES_MAX 2000 /* looked at, folders included */

/* Collects what is in out/ and work/ of the guest's disk, within the limits of the
 * job. Never follows a link. */
int artifact_collect(int disk, const struct sandbox_job *job, struct sandbox_result *result,
		     struct error *err);

enum artifact_refusal {
	ARTIFACT_OVER_COUNT,
	ARTIFACT_OVER_BYTES,
	ARTIFACT_TOO_DEEP,
	ARTIFACT_CUT_SHORT,
	ARTIFACT_TOO_MANY, /* the last entry, of no path */
};

/* In words, for the caller to free. */
char *artifact_why(enum artifact_refusal why, const struct sandbox_limits *limits);
/* What a file is that is no regular one. Static. */
const char *artifact_kind(mode_t mode);

/* One more in the result. Both take what is allocated; bytes have room for a NUL. */
void artifact_refuse(struct sandbox_result *result, const char *path, uint64_t size, char *why);
void artifact_keep(struct sandbox_result *result, const char *path, char *bytes, size_t size);

#endif
