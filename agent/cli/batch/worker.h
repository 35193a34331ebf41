/*
 * A worker, and what it and the parent say to each other over a stream socket: down, a struct
 * batch_unit; up, a struct batch_header and the bytes it announces.
 */
#ifndef AGENT_BATCH_WORKER_H
#define AGENT_BATCH_WORKER_H

#include "agent/cli/batch/batch.h"
#include "agent/status.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum batch_kind {
	BATCH_RESULT, /* the JSON line of a task */
	BATCH_STAGE,  /* struct batch_stage: what the worker does now */
	BATCH_CAPPED, /* struct error: a cap of the whole batch is reached; no result */
	BATCH_FATAL,  /* struct error: the worker cannot work, and no other could */
};

struct batch_header {
	uint32_t kind;
	uint32_t retries; /* of model calls, for a result */
	uint64_t len;
};

struct batch_stage {
	char name[24];
	int32_t attempt;
};

/* Works until the socket ends. number: which of the workers this is. */
void batch_worker(const struct batch *batch, int socket, size_t number, bool first)
	__attribute__((noreturn));
/* The line of a task that did not even begin, of the shape all have; caller frees. */
struct json *batch_refused(const struct batch *batch, struct batch_unit unit,
			   enum run_status status, const char *why);

/* Both ends: whole messages, or -1 at the end of the stream or an error. */
int batch_send(int socket, const void *bytes, size_t len);
int batch_receive(int socket, void *bytes, size_t len);

#endif
