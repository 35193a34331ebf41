/* What a person or a program may watch. */
#ifndef AGENT_BATCH_WATCH_H
#define AGENT_BATCH_WATCH_H

#include "agent/cli/batch/worker.h"

struct batch_results;

struct batch_doing {
	const char *id; /* of the task; NULL: nothing */
	uint32_t repeat;
	struct batch_stage stage;
	int64_t since_ms; /* of the stage */
};

struct batch_watch {
	const struct batch *batch;
	const struct batch_results *results;
	size_t jobs, total;
	int64_t began_ms, drawn_ms;
	bool live;		   /* on a terminal that can */
	struct batch_doing *doing; /* owned; of each worker */
	int events;		   /* where they are written; -1: nowhere */
	const char *events_path;
};

/* ERR_USAGE when --events cannot be written to. */
int batch_watch_begin(struct batch_watch *w, struct error *err);
int batch_watch_start(struct batch_watch *w, size_t worker, struct batch_unit unit,
		      struct error *err);
int batch_watch_stage(struct batch_watch *w, size_t worker, const struct batch_stage *stage,
		      struct error *err);
int batch_watch_lost(struct batch_watch *w, size_t worker, const char *manner, struct error *err);
int batch_watch_result(struct batch_watch *w, const struct json *line, struct error *err);
/* The worker is done with its task. */
void batch_watch_idle(struct batch_watch *w, size_t worker);
int batch_watch_end(struct batch_watch *w, const struct json *summary, struct error *err);
void batch_watch_release(struct batch_watch *w);

#endif
