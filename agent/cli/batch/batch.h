/*
 * A batch: one parent that hands out tasks and writes results, N workers that
 * are processes of their own, each with its own keeper, log connection and
 * model. A crash of one loses nothing but its try. Here is what all of them know.
 */
#ifndef AGENT_BATCH_H
#define AGENT_BATCH_H

#include "agent/cli/settings.h"
#include "agent/cli/task_given.h"
#include "agent/loop.h"
#include "base/hash.h"

#include <stdint.h>

/* One run of a task. */
struct batch_unit {
	uint32_t task;	 /* index of its line */
	uint32_t repeat; /* 0, 1, ... */
};

/* Names what was asked: so many hex digits of the task, "-", as many of the settings. */
#define BATCH_KEY_HALF 16
#define BATCH_KEY_LEN  (2 * BATCH_KEY_HALF + 1)

/* One of several parts of a batch that run apart. */
struct batch_shard {
	size_t index; /* from 1 */
	size_t of;    /* 0: there are no parts */
};

struct batch {
	const struct settings *settings;
	struct batch_shard shard;
	const char *path;	 /* of the batch file, as messages name it */
	struct task_place place; /* of the tasks' files */
	const char *session;	 /* ULID of the batch */
	const struct task_lines *tasks;
	char settings_key[BATCH_KEY_HALF + 1];
	size_t repeats;			     /* of each task, as --repeat says; 0: it does not */
	struct batch_pool *pool;	     /* of the caps; NULL: there is none */
	const struct batch_earlier *rescore; /* results whose runs are checked again, or NULL */
	bool recorded_tasks;		     /* and the tasks are those of the log */
	bool watched;			     /* stages are drawn, or written as events */
};

#endif
