/*
 * A batch: one parent that hands out tasks and writes results, N workers that
 * are processes of their own, each with its own keeper, log connection and
 * model. A crash of one loses one task. Internal to agent/.
 *
 * Parent and worker speak over a stream socket: down, the index of a task
 * (uint32_t); up, a struct batch_header and the bytes it announces.
 */
#ifndef AGENT_BATCH_H
#define AGENT_BATCH_H

#include "agent/settings.h"
#include "agent/task.h"

#include <stdint.h>

enum batch_kind {
	BATCH_RESULT,	/* the JSON line of a task */
	BATCH_FATAL,	/* struct error: the worker cannot work, and no other could */
};

struct batch_header {
	uint32_t kind;
	uint32_t task;
	uint64_t len;
};

struct batch {
	const struct settings *settings;
	const char *path;	/* of the batch file */
	const char *folder;	/* it is in: where relative inputs are */
	const char *session;	/* ULID of the batch */
	const struct task_lines *tasks;
};

/* agent/batch_worker.c: never returns. */
void batch_worker(const struct batch *batch, int socket, bool first) __attribute__((noreturn));
/* The line of a task that did not even begin, of the shape all have; caller frees. */
struct json *batch_refused(const char *id, enum run_status status, const char *why);

/* Both ends: whole messages, or -1 at the end of the stream or an error. */
int batch_send(int socket, const void *bytes, size_t len);
int batch_receive(int socket, void *bytes, size_t len);

/* --- agent/batch_results.c: the results file, the summary, the JUnit report --- */

struct batch_outcome {
	char *id, *status, *level, *error;	/* owned; error may be NULL */
	int64_t duration_ms;
};

struct batch_results {
	int fd;			/* of the results; -1: none are written */
	const char *path;	/* for messages; NULL: standard output */
	off_t good_len;		/* of the file, in whole lines */
	struct batch_outcome *outcomes;	/* owned */
	size_t count;
	size_t success, failed, skipped;
	size_t failed_before;	/* kept results of an earlier batch, without success */
	size_t levels[LEVEL_EXPECTED + 1];
	int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens;
};

/* Opens --out. An existing file needs --resume or --retry-failed: then the ids
 * that need no run are returned as a JSON object of id: true, and a torn last
 * line is dropped. */
int batch_results_open(struct batch_results *r, const struct settings *settings,
		       struct json **ret_done, struct error *err);
/* Appends text as a line, whole or not at all, and counts what line says. */
int batch_results_add(struct batch_results *r, const struct json *line, const char *text,
		      struct error *err);
int batch_results_close(struct batch_results *r, struct error *err);
struct json *batch_results_summary(const struct batch_results *r, int64_t duration_ms);
int batch_results_junit(const struct batch_results *r, const char *path, const char *suite,
			struct error *err);

#endif
