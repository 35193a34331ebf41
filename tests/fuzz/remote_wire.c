/*
 * What comes over the wire of sandboxes that are services: whatever a service answers, a result
 * holds no more than its job's limits and no path that leads out of its folder; whatever a client
 * sends, a job is whole or refused.
 */
#include "sandbox/remote/wire.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64
#define COUNT 3

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_result(const struct sandbox_result *r)
{
	int64_t kept = 0, size = 0;

	if (r->out.len > BYTES || r->err.len > BYTES || r->out.total < r->out.len)
		abort();
	if (r->outcome == SANDBOX_EXIT && (r->exit_code < 0 || r->exit_code > 255))
		abort();
	for (size_t i = 0; i < r->artifact_count; i++) {
		const struct sandbox_artifact *a = &r->artifacts[i];
		const char *up = strstr(a->path, "..");

		if (a->path[0] == '/' ||
		    (up && (up == a->path || up[-1] == '/') && (!up[2] || up[2] == '/')))
			abort();
		if (a->kept != (a->bytes != NULL) || a->kept == (a->why_not != NULL))
			abort();
		kept += a->kept;
		size += a->kept ? (int64_t)a->size : 0;
	}
	if (kept > COUNT || size > BYTES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct sandbox_job job = { .language = language_at(0),
				   .limits = { .stdout_bytes = BYTES,
					       .stderr_bytes = BYTES,
					       .artifact_bytes = BYTES,
					       .artifacts = COUNT } };
	struct error err = ERROR_INIT;
	cleanup_json struct json *json = json_parse((const char *)bytes, len, 0, &err);
	struct sandbox_result result;
	struct wire_job read;

	if (!json)
		return 0;
	if (wire_read_result(&result, json, &job, &err) == 0) {
		check_result(&result);
		sandbox_result_release(&result);
	}
	if (wire_read_job(&read, json, &err) == 0) {
		if (!read.job.language || !read.job.code)
			abort();
		wire_job_release(&read);
	}
	wire_check_answer(json, &err);
	return 0;
}
