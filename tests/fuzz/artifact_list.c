/*
 * A far end's list of what a guest left: whatever it says, no path leads out of its folder, no more
 * is kept than the limits allow, and every entry is whole.
 */
#include "sandbox/native/artifact_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES 64
#define COUNT 3

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(const struct sandbox_artifact *a, size_t *kept, uint64_t *size)
{
	const char *up = strstr(a->path, "..");

	if (a->path[0] == '/' ||
	    (up && (up == a->path || up[-1] == '/') && (!up[2] || up[2] == '/')))
		abort();
	if (a->kept != (a->bytes != NULL) || a->kept == (a->why_not != NULL))
		abort();
	*kept += a->kept;
	*size += a->kept ? a->size : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const struct sandbox_job job = { .limits = { .artifact_bytes = BYTES,
						     .artifacts = COUNT } };
	struct sandbox_result result = { .exit_code = -1 };
	int fd = memfd_create("list", MFD_CLOEXEC);
	struct error err = ERROR_INIT;
	uint64_t size = 0;
	size_t kept = 0;

	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len)
		abort();
	artifact_read_list(fd, &job, &result, &err);
	for (size_t i = 0; i < result.artifact_count; i++)
		check(&result.artifacts[i], &kept, &size);
	if (kept > COUNT || size > BYTES)
		abort();
	sandbox_result_release(&result);
	close(fd);
	return 0;
}
