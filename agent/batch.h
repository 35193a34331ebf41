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

/* --- agent/batch_earlier.c: the results a file holds from before --- */

struct batch_outcome {
	char *id, *status, *level, *error;	/* owned; error may be NULL */
	int64_t duration_ms;
	size_t start, len;	/* of its line, when it is from before */
	bool dropped;		/* to be run again */
};

struct batch_earlier {
	struct buf text;		/* of the file */
	struct batch_outcome *lines;	/* owned; in the file's order */
	struct batch_outcome **index;	/* owned; by id */
	size_t count;
};

/* A torn last line is passed over; a whole one that is no result is ERR_USAGE:
 * such a file is not written over. */
int batch_earlier_read(struct batch_earlier *e, const char *path, struct error *err);
/* Whether a task has a result that stands; with retry_failed only success does. */
bool batch_earlier_settled(const struct batch_earlier *e, const char *id, bool retry_failed);
/* The task is run again: what it has is dropped when the file is written. */
void batch_earlier_drop(struct batch_earlier *e, const char *id);
int batch_earlier_write(const struct batch_earlier *e, const char *path, struct error *err);
void batch_earlier_release(struct batch_earlier *e);

/* --- agent/batch_results.c: the results file, the summary, the JUnit report --- */

struct batch_results {
	int fd;			/* of the results; -1: none are written */
	const char *path;	/* for messages; NULL: standard output */
	off_t good_len;		/* of the file, in whole lines */
	struct batch_earlier earlier;
	struct batch_outcome *outcomes;	/* owned */
	size_t count;
	size_t success, failed, skipped;
	size_t failed_before;	/* kept results of an earlier batch, without success */
	size_t levels[LEVEL_EXPECTED + 1];
	int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens;
};

/* What a result's line says. */
void batch_outcome_read(struct batch_outcome *ret, const struct json *line);
void batch_outcome_release(struct batch_outcome *o);

/* Reads what --out holds; a file that exists needs --resume or --retry-failed. */
int batch_results_begin(struct batch_results *r, const struct settings *settings,
			struct error *err);
/* Opens --out for what is to come, without the earlier results that were dropped. */
int batch_results_open(struct batch_results *r, const struct settings *settings,
		       struct error *err);
/* Appends text as a line, whole or not at all, and counts what line says. */
int batch_results_add(struct batch_results *r, const struct json *line, const char *text,
		      struct error *err);
int batch_results_close(struct batch_results *r, struct error *err);
struct json *batch_results_summary(const struct batch_results *r, int64_t duration_ms);
/* The results kept from before are in it, too. */
int batch_results_junit(const struct batch_results *r, const char *path, const char *suite,
			struct error *err);

#endif
