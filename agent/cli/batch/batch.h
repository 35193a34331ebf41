/*
 * A batch: one parent that hands out tasks and writes results, N workers that
 * are processes of their own, each with its own keeper, log connection and
 * model. A crash of one loses nothing but its try. Internal to agent/.
 *
 * Parent and worker speak over a stream socket: down, a struct batch_unit; up, a
 * struct batch_header and the bytes it announces.
 */
#ifndef AGENT_BATCH_H
#define AGENT_BATCH_H

#include "agent/cli/settings.h"
#include "agent/cli/task_given.h"
#include "agent/loop.h"
#include "base/hash.h"

#include <stdint.h>

struct terminal;

enum batch_kind {
	BATCH_RESULT, /* the JSON line of a task */
	BATCH_STAGE,  /* struct batch_stage: what the worker does now */
	BATCH_CAPPED, /* struct error: a cap of the whole batch is reached; no result */
	BATCH_FATAL,  /* struct error: the worker cannot work, and no other could */
};

/* One run of a task. */
struct batch_unit {
	uint32_t task;	 /* index of its line */
	uint32_t repeat; /* 0, 1, ... */
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

/* --- agent/cli/batch/worker.c --- */

/* Works until the socket ends. number: which of the workers this is. */
void batch_worker(const struct batch *batch, int socket, size_t number, bool first)
	__attribute__((noreturn));
/* The line of a task that did not even begin, of the shape all have; caller frees. */
struct json *batch_refused(const struct batch *batch, struct batch_unit unit,
			   enum run_status status, const char *why);

/* Both ends: whole messages, or -1 at the end of the stream or an error. */
int batch_send(int socket, const void *bytes, size_t len);
int batch_receive(int socket, void *bytes, size_t len);

/* --- agent/cli/batch/key.c: what was asked, as a name --- */

/* The half of the settings. ERR_CONFIG: a prompt of --prompts cannot be read. */
int batch_settings_key(const struct batch *batch, char ret[BATCH_KEY_HALF + 1], struct error *err);
/* The whole, of one task: its members that decide its run, and what its files hold. */
void batch_key(const struct batch *batch, const struct task_line *line,
	       char ret[BATCH_KEY_LEN + 1]);

/* --- agent/cli/batch/pool.c: caps for all workers together --- */

#define BATCH_WORKERS_MAX 256

struct batch_caps {
	int64_t tokens;			    /* -1: no cap */
	int64_t cost_micro_usd;		    /* -1: no cap */
	int64_t tokens_before, cost_before; /* spent, by the results that there are */
};
/* What --total-tokens, --total-cost and --total-time say; 0 ms where there is no time. */
int batch_caps_read(const struct settings *s, struct batch_caps *ret, int64_t *ret_time_ms,
		    struct error *err);
/* ERR_CONFIG where the price of model is not known, which option flag needs. */
int batch_check_price(const struct settings *s, const char *model, const char *flag,
		      struct error *err);
/* In memory that the workers share: made before they are forked. NULL without memory. */
struct batch_pool *batch_pool_create(const struct batch_caps *caps);
void batch_pool_free(struct batch_pool *pool);
/* A worker died: what it may have been spending counts as spent. */
void batch_pool_lost(struct batch_pool *pool, size_t worker);

/* A model whose calls are counted and kept below the caps: wraps what is in llm. */
struct batch_meter {
	struct llm inner;
	struct batch_pool *pool; /* or NULL */
	size_t worker;
	uint32_t repeat; /* of the task that is asked about */
	const struct price_list *prices;
	int retries;		     /* of the calls of this run */
	enum llm_error_class failed; /* class of the last call that failed */
	bool capped;		     /* a call did not fit below a cap */
};
void batch_meter_wrap(struct batch_meter *m, struct llm *llm);

/* --- agent/cli/batch/earlier.c: the results a file holds from before --- */

struct batch_outcome {
	char *id, *status, *level, *error; /* owned; error may be NULL */
	/* Kept for a table and a vote alone; owned; may be NULL. What a run without an
	 * answer printed is its vote, or a vote would know which runs failed. */
	char *answer, *output, *run;
	int64_t attempts, input_tokens, output_tokens;
	double cost_usd;	     /* NaN: not known */
	char key[BATCH_KEY_LEN + 1]; /* "": none */
	uint32_t repeat;
	int64_t duration_ms;
	size_t start, len; /* of its line, when it is from before */
	bool dropped;	   /* to be run again */
	bool named;	   /* of a task that the file has */
	bool unfinished;   /* the provider or the sandbox was not there */
};

/* Why a result from before stands or does not. */
enum batch_standing {
	STANDS,
	STANDING_NONE,	    /* there is none */
	STANDING_CANCELLED, /* or ended by what was not the task's fault */
	STANDING_FAILED,    /* and that is to be run again */
	STANDING_TASK,	    /* the task is another now */
	STANDING_SETTINGS,
	STANDING_UNKNOWN, /* it does not say what it was asked */
	STANDING_COUNT,
};

struct batch_earlier {
	struct buf text;	      /* of the file */
	struct batch_outcome *lines;  /* owned; in the file's order */
	struct batch_outcome **index; /* owned; by id and repeat */
	size_t count;
};

/* The results of fd, whose path is for messages. A torn last line is passed over; a
 * whole one that is no result is ERR_USAGE: such a file is not written over. */
int batch_earlier_read(struct batch_earlier *e, int fd, const char *path, bool answers,
		       struct error *err);
/* Whether a unit has a result that stands for that key; with retry_failed only
 * success does. One that does not is dropped when the file is written. *ret_success:
 * whether the one that stands is a success. */
enum batch_standing batch_earlier_settle(struct batch_earlier *e, const char *id, uint32_t repeat,
					 const char *key, bool retry_failed, bool *ret_success);
/* The first result of a unit, or NULL. */
const struct batch_outcome *batch_earlier_find(const struct batch_earlier *e, const char *id,
					       uint32_t repeat);
/* Whether it has any. */
bool batch_earlier_has(const struct batch_earlier *e, const char *id, uint32_t repeat);
int batch_earlier_write(const struct batch_earlier *e, const char *path, struct error *err);
void batch_earlier_release(struct batch_earlier *e);

/* --- agent/cli/batch/results.c: the results file --- */

struct batch_results {
	int fd;	      /* of the results; -1: none are written */
	bool table;   /* there is no file but a terminal, which gets a table in the end */
	bool answers; /* are kept, for a table or a vote */
	bool vote;
	size_t repeats;		 /* as in struct batch */
	const char *path;	 /* for messages; NULL: standard output */
	struct audit_group *log; /* where the runs are that the results name; borrowed, or NULL */
	const char *log_path;
	off_t good_len;	     /* of the file, in whole lines */
	int64_t unsynced_ms; /* since when a line may be lost with the power; 0: none may */
	struct batch_earlier earlier;
	size_t standing[STANDING_COUNT];
	struct batch_outcome *outcomes; /* owned */
	size_t count;
	size_t success, failed, skipped;
	size_t skipped_failed; /* of those skipped, without success */
	size_t not_run;	       /* to be done, but the batch ended before */
	size_t failed_before;  /* kept results of an earlier batch, without success */
	size_t others_before;  /* and those of tasks that the file does not have */
	size_t unfinished;     /* of those failed: the next --resume runs them again */
	enum error_kind cause; /* of those: ERR_SANDBOX when it was that of any */
	size_t died, retries;  /* workers, with a task tried again; tries of model calls */
	size_t levels[LEVEL_EXPECTED + 1];
	int64_t input_tokens, cached_tokens, output_tokens, reasoning_tokens;
	double cost_usd;
	bool cost_known;
};

/* What a result's line says; answer and run only when they are wanted. */
void batch_outcome_read(struct batch_outcome *ret, const struct json *line, bool answers);
void batch_outcome_release(struct batch_outcome *o);

/* Reads what --out holds, and keeps other batches from it (ERR_FAILED names who has
 * it); a file that exists needs --resume or --retry-failed. */
int batch_results_begin(struct batch_results *r, const struct settings *settings,
			struct error *err);
/* Opens --out for what is to come, without the earlier results that were dropped. */
int batch_results_open(struct batch_results *r, const struct settings *settings, struct error *err);
/* Appends text as a line, whole or not at all, and counts what line says. */
int batch_results_add(struct batch_results *r, const struct json *line, const char *text,
		      struct error *err);
/* How long the lines written may yet wait to be synced: -1 when none does, 0: now. */
int batch_results_sync_in(const struct batch_results *r, int64_t now_ms);
int batch_results_sync(struct batch_results *r, struct error *err);
int batch_results_close(struct batch_results *r, struct error *err);

/* --- agent/cli/batch/tally.c: what many runs of a task say --- */

/* Of the results of tasks that the file has, those kept from before too: {"k", "tasks",
 * "runs", "pass@1", "pass^1", ...}; and the votes. The caller frees. */
struct json *batch_tally_repeats(const struct batch_results *r);
struct json *batch_tally_votes(const struct batch_results *r);

/* --- agent/cli/batch/table.c: results as a table --- */

/* On the terminal. */
int batch_table_show(struct terminal *term, const struct batch_results *r, struct error *err);
/* As CSV (RFC 4180), with the results kept from before. */
int batch_table_csv(const struct batch_results *r, const char *path, struct error *err);

/* --- agent/cli/batch/report.c: the summary, the JUnit report --- */

struct json *batch_report_summary(const struct batch_results *r, int64_t duration_ms);
/* The same for people, on stderr. */
void batch_report_tell(struct terminal *term, const struct batch_results *r, int64_t duration_ms);
/* The results kept from before are in it, too. */
int batch_report_junit(const struct batch_results *r, const char *path, const char *suite,
		       struct error *err);

/* --- agent/cli/batch/choose.c: which tasks are run --- */

struct batch_choice {
	struct batch_unit *units; /* owned, in order */
	size_t count;
	size_t sound;	/* of those: what a worker, and so a model, is needed for */
	size_t tasks;	/* that were to have results, with those that have them */
	size_t runless; /* runs that --rescore has no result of */
};
/* What --only names, of these what --sample draws, without what has a result that
 * stands, at most --limit. */
int batch_choose(struct batch_choice *ret, const struct batch *batch, struct batch_results *results,
		 struct error *err);

/* --- agent/cli/batch/watch.c: what a person or a program may watch --- */

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

/* --- agent/cli/batch/progress.c: the same, drawn --- */

/* Draws when it is time to, or now. */
void batch_progress_draw(struct batch_watch *w, bool now);
/* Milliseconds until it is; -1: never. */
int batch_progress_in(const struct batch_watch *w, int64_t now_ms);

/* --- agent/cli/batch/rescore.c: runs checked and judged again --- */

/* The tasks of results, where no file has them: an id and the run each. */
void batch_rescore_tasks(struct task_lines *ret, const struct batch_earlier *results);

/* A run whose coder is not asked again: its replies and what its last program printed
 * are the record's, and only what checks them is live. */
struct batch_rescore;
struct session;
/* NULL with err when the log has no such run, or no program or answer of it. */
struct batch_rescore *batch_rescore_begin(struct session *s, const char *run, struct error *err);
/* The recorded task, as task; or, of another, whether it asks the same. */
int batch_rescore_task(struct batch_rescore *x, struct task *task, struct error *err);
int batch_rescore_check(struct batch_rescore *x, const struct task *task, struct error *err);
/* The policy under which its calls come as they are recorded; whether there is a judge is said
 * now. ERR_LOG when the recorded one cannot be read. */
int batch_rescore_policy(const struct batch_rescore *x, struct policy *policy, struct error *err);
/* Frees, and gives the session its own ends back, when the result, which may refer to
 * the record, is done with; x may be NULL. */
void batch_rescore_end(struct batch_rescore *x);

/* --- agent/cli/batch/shard.c: one of several parts --- */

/* ERR_USAGE for what is no part, or an automatic one that no variable tells. */
int batch_shard_read(struct batch_shard *ret, const struct settings *settings, struct error *err);
/* Whether a task is in that part: by its id, wherever in the file it is. */
bool batch_shard_has(const struct batch_shard *shard, const char *id);

/* The settings with paths of the part's own: results, log, reports. */
struct batch_shard_settings {
	struct settings settings; /* borrows from those given */
	struct options flags, options;
	struct shard_path {
		char *path; /* owned */
		const char *value;
	} paths[4];
	const char *resume;
	char *db_path, *manifest; /* owned */
};
/* ERR_USAGE without --out. */
int batch_shard_settings(struct batch_shard_settings *ret, const struct batch_shard *shard,
			 const struct settings *settings, struct error *err);
void batch_shard_release(struct batch_shard_settings *s);

/* Replaces the manifest. summary: NULL before anything has run. */
int batch_shard_manifest(const struct batch *batch, const char *path, size_t tasks, bool complete,
			 const struct json *summary, struct error *err);

/* --- agent/cli/batch/dispatch.c: handing out --- */

struct batch_dispatch {
	const struct batch *batch;
	struct batch_results *results;
	const struct batch_choice *choice;
	struct batch_watch *watch;
	struct redactor *redactor; /* for the lines that are the parent's own */
	size_t jobs, max_errors;
	int64_t deadline_ms; /* monotonic; 0: none */
};
/* Runs all. ended is why it ended early, if it did, with a result for whatever was
 * finished; -1 with err when results could not be written or workers not be had. */
int batch_dispatch(struct batch_dispatch *d, struct error *ended, struct error *err);

/* --- options --- */

/* A whole number, 1 or more; *ret stays when the option is not given. */
int batch_number(const struct settings *s, enum option_id id, size_t *ret, struct error *err);

#endif
