/*
 * A job and what came of it as JSON, for a sandbox that is a service: another assay, which answers
 * by sandbox_serve, or runner.py (in this folder), which is deployed where only functions are.
 * Whatever is bytes is base64. A request is
 *
 *	{"assay_job": 1, "action": "run" | "pair" | "describe" | "doctor" | "wall", ...}
 *
 * with "jobs", or the "language" or "wall" that is asked about; an answer {"assay_job": 1,
 *"results":
 * [...]}, what was asked for, or {"assay_job": 1, "error": {"kind", "message"}} when nothing ran.
 */
#ifndef SANDBOX_REMOTE_WIRE_H
#define SANDBOX_REMOTE_WIRE_H

#include "base/json.h"
#include "sandbox/sandbox.h"

#define WIRE_VERSION 1

/* {"assay_job": 1, "action": ACTION} */
struct json *wire_request(const char *action);
struct json *wire_job(const struct sandbox_job *job);
struct json *wire_result(const struct sandbox_result *result);
struct json *wire_error(const struct error *err);

/* --- what came from the other side, which is not believed --- */

/* A job and all that it refers to. */
struct wire_job {
	struct sandbox_job job;
	void **owned;
	size_t owned_count;
};
/* ERR_USAGE, which names what is wrong. */
int wire_read_job(struct wire_job *ret, const struct json *json, struct error *err);
void wire_job_release(struct wire_job *job);

/* An answer of this version that is none of an error: else the error it tells of. */
int wire_check_answer(const struct json *answer, struct error *err);
/* ERR_SANDBOX when it has more than the job's limits allow, or is no result at all. */
int wire_read_result(struct sandbox_result *ret, const struct json *json,
		     const struct sandbox_job *job, struct error *err);

/* --- limits --- */

/* Each limit by its name; NULL past the end. Of a struct it is at offset. */
struct wire_limit {
	const char *name;
	size_t offset;
};
extern const struct wire_limit wire_limits[];

/* Text that is base64 in a member; the caller frees. NULL: absent, or none. */
char *wire_bytes(const struct json *object, const char *key, size_t *ret_len);
void wire_set_bytes(struct json *object, const char *key, const void *bytes, size_t len);

#endif
