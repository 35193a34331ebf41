/*
 * What every door has behind it: workers, each a thread with a sandbox, a log and, once it is
 * needed, a model of its own, and a queue in front of them that has an end.
 *
 * The sandboxes are started and the logs opened by service_open, in that order, before any work
 * and before a key is read. One process has the log's file open once for each worker, from then
 * on: nothing may open or close it beside them (the locks of SQLite are the process's), so that
 * whatever does, a replay, is a process of its own.
 */
#ifndef AGENT_DOORS_SERVICE_H
#define AGENT_DOORS_SERVICE_H

#include "agent/doors/service/contexts.h"
#include "agent/loop.h"

#include <pthread.h>

struct service;

/* How the program around it opens what it has settings for, and what it knows to do beside. Each
 * is called by one thread at a time. */
struct service_ends {
	int (*open_sandbox)(void *self, struct sandbox **ret, struct error *err);
	int (*open_log)(void *self, struct audit **ret, struct error *err);
	/* May fill in policy's provider and model. */
	int (*open_model)(void *self, struct llm *ret, struct policy *policy, struct error *err);
	/* A run of the log once more, in a process of its own, which cancel_fd ends. *ret is the
	 * document of `assay replay --json`. Called by several threads at once. */
	int (*replay)(void *self, const char *run, int cancel_fd, struct json **ret,
		      struct error *err);
	/* Rows and records as `assay log --json` has them. Caller frees. */
	struct json *(*row)(const struct audit_row *row);
	struct json *(*record)(struct audit *audit, const struct audit_row *row, struct error *err);
	const struct setting_names *names; /* as struct loop has it */
	int (*exit_code)(enum run_status status, enum error_kind ended_by);
	void *self;
	/* What programs may call that the worker of this place (service_place) runs now, for that
	 * owner; borrowed until the place's next one. NULL: nothing. The end may be NULL, too. By
	 * several threads at once, of a place by one. */
	const struct tool_ops *(*tools)(void *self, size_t place, const char *owner);
};

struct service_options {
	const struct policy *policy; /* borrowed until service_close, as are means and ends */
	const struct means *means;   /* or NULL, as struct loop has it */
	const struct service_ends *ends;
	size_t parallel; /* workers, 1 or more */
	size_t queue;	 /* that may wait beside those that are worked on */
	struct contexts_options contexts;
};

struct worker {
	struct service *service;
	struct sandbox *sandbox;
	struct audit *audit;
	struct policy policy; /* with the model that was found; owned */
	const struct means *means;
	struct llm llm;
	bool has_model; /* llm is open */
	pthread_t thread;
	pthread_cond_t wake; /* the service's: there may be something for this one to do */
};

/* Something to do, which is its maker's: run is called once, in a worker's thread, and may free it.
 */
#define WORK_ALONE_MAX 64
struct work {
	void (*run)(struct work *work, struct worker *worker);
	const char *owner; /* whose: a turn of each; NULL is an owner like any. Outlives the work */
	char alone[WORK_ALONE_MAX]; /* of two with the same name one waits for the other; "": none
				     */
	bool looks;   /* it only reads the log: a worker of its own does that, without a sandbox */
	size_t place; /* of the worker that has what it needs, and 1: another one takes it only
			 when that one has been busy with something for long; 0: any */
	int64_t since_ms; /* the service's, as what follows: when it was submitted */
	struct work *next;
};

int service_open(struct service **ret, const struct service_options *options, struct error *err);

/* The first worker's, for what is asked before there is work. */
struct worker *service_first(struct service *service);
const struct service_ends *service_ends(const struct service *service);

/* Opens a worker's model, once: ERR_CONFIG and the like when there is none. */
int service_need_model(struct worker *worker, struct error *err);

/* Those that clients have opened. */
struct contexts *service_contexts(struct service *service);
/* The worker's place, and 1, for struct work. */
size_t service_place(const struct worker *worker);

/* False, and the work still the caller's, when the queue is full. */
bool service_submit(struct service *service, struct work *work);

/* How often something took how long: at most so many milliseconds each, the last one longer. */
#define SERVICE_TIMES 15
extern const int64_t service_times_ms[SERVICE_TIMES - 1];
struct service_times {
	uint64_t counts[SERVICE_TIMES], sum_ms;
};

struct service_load {
	size_t parallel, running, waiting, queue;
	uint64_t done, refused;
	uint64_t lost; /* of programs: what runs them failed, or died */
	struct service_times waited, worked;
	int64_t memory_bytes; /* that all workers' programs may have together */
};
void service_look(struct service *service, struct service_load *ret);
void service_count_lost(struct service *service);
/* Of that, what is an owner's. */
struct service_share {
	size_t running, waiting;
	uint64_t done, refused;
};
void service_look_owner(struct service *service, const char *owner, struct service_share *ret);

/* Ends when all that was submitted is done. -1 when not all of the log is on the disk. NULL
 * allowed. */
int service_close(struct service *service, struct error *err);

#endif
