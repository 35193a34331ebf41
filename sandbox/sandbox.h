/*
 * The execution contract: run hostile code and say exactly what happened.
 *
 * A struct sandbox is an open backend (sandbox/backend.h), chosen by name: what
 * it is made of, namespaces or a container or a machine far away, is its own
 * affair. This header names nothing of any of them; what walls a run had is told
 * as facts in words.
 *
 * Two failures, never one code for both: sandbox_run returns 0 with an outcome
 * when the guest ran, however badly, and -1 with err (kind ERR_SANDBOX) when OUR
 * side failed: the guest never ran, or what watched it died under it. A side that
 * does not answer is ended, with all it started; the outcome is then why the
 * guest had to end (timeout_wall, cancelled ...), without metrics and artifacts.
 */
#ifndef SANDBOX_SANDBOX_H
#define SANDBOX_SANDBOX_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* --- languages: rows in one table (sandbox/language.c) --- */

struct language {
	const char *name;		 /* "python", "javascript", "bash" */
	const char *const *aliases;	 /* "py", "python3", ...; NULL-terminated */
	const char *const *interpreters; /* candidates, best first; NULL-terminated */
	const char *const *flags;	 /* between interpreter and file; NULL-terminated */
	const char *file;		 /* "main.py", in the work folder */
	const char *extension;		 /* ".py" */
};

/* By name or alias, ignoring case; NULL when unknown. */
const struct language *language_find(const char *name);
const struct language *language_at(size_t index); /* NULL past the end */

/* What would run it here. Strings are owned by the sandbox. */
struct sandbox_environment {
	const char *language;
	const char *interpreter; /* real path, or NULL when not installed */
	const char *version;	 /* "3.11.2" */
	const char *digest;	 /* SHA-256, hex: identifies interpreter and packages */
	const char *packages;	 /* for the prompt: "numpy 1.24.2"; "" when none */
	const char *installed;	 /* all of them, as JSON: {"numpy":"1.24.2"}; NULL: not known */
	const char *sandbox;	 /* the backend's name; NULL: of a record that has none */
	const char *from;	 /* the user's own, as it was named; NULL: the system's */
	const char *notes; /* what of that is not to be had in a run, and why; "" or NULL: all is */
};

/* --- limits --- */

struct sandbox_limits {
	int64_t wall_ms;
	int64_t cpu_ms;
	int64_t memory_bytes; /* of the whole process tree, tmpfs included */
	int64_t processes;
	int64_t open_files;
	int64_t disk_bytes; /* /tmp, work folder and /out together */
	int64_t inodes;
	int64_t stdout_bytes; /* kept; the rest is counted */
	int64_t stderr_bytes;
	int64_t artifact_bytes; /* total */
	int64_t artifacts;	/* count */
};

/* 1 CPU, 512 MiB, 10 s, 64 processes ... (README.md here). */
void sandbox_limits_default(struct sandbox_limits *ret);

/* --- a job --- */

/* No file has that name (struct sandbox_job, resume). */
#define SANDBOX_HOLD "/proc/self/assay-hold"

/* An input that is not bytes but a regular file or a folder of the host. It is seen where it is,
 * read-only and never written to, where the backend can show it; a file that it cannot show is
 * copied, within a limit, and the fact "inputs" of the run says which way was used. A folder's
 * sockets, pipes and devices lead nowhere, and its links no further than the sandbox. */
struct sandbox_source {
	int fd;		  /* open for reading; the caller's, until the run is over */
	const char *path; /* absolute, without links, of what fd is */
	bool folder;
};

struct sandbox_file {
	const char *path; /* relative, no "..": below /in, or below the work folder */
	const void *bytes;
	size_t len;
	const struct sandbox_source *source; /* of an input, instead of bytes; NULL: bytes */
};

/* What a program may say to whoever started it, and be answered, while it runs. Its descriptor 4
 * takes bytes, and 3 has what comes back: two pipes, which nobody else has. */
enum sandbox_port_step {
	SANDBOX_PORT_ON,
	SANDBOX_PORT_MORE,   /* it has more of what it was given: called again, without bytes, when
			      * the answer is taken and if the program has not ended by then */
	SANDBOX_PORT_CLOSED, /* nothing more is read or answered: both end for it */
	SANDBOX_PORT_STOP,   /* and it is ended, with all it started: outcome cancelled */
};
struct buf;
/* The clock that ends a program begins when that does: who answers it has this much longer, less
 * than a backend has to say that it ended. Nothing is begun for it in that time. */
#define SANDBOX_PORT_MORE_MS 2000
struct sandbox_port {
	/* Some bytes that it wrote, as they came; what is added to answer goes to it, and until
	 * it has taken that, no more is read. Its output waits meanwhile, so this ends by until_ms
	 * (clock_mono_ms), SANDBOX_PORT_MORE_MS after its wall time. Never called after its end. */
	enum sandbox_port_step (*take)(void *self, const char *bytes, size_t len, int64_t until_ms,
				       struct buf *answer);
	void *self;
	/* The job ran before and was stopped by this: what it printed then it prints once more.
	 * For who starts it; no backend looks at it. */
	bool again;
};

struct sandbox_job {
	const struct language *language;
	const void *code;
	size_t code_len;
	const char *const *argv; /* after the file name; NULL-terminated, or NULL */
	const void *stdin_bytes; /* NULL: end of file at once */
	size_t stdin_len;
	const struct sandbox_file *inputs; /* under /in, read-only */
	size_t input_count;
	const struct sandbox_file *extras; /* in the work folder beside the program */
	size_t extra_count;
	const char *entry;	  /* extra to start instead of the program, or NULL */
	const char *const *flags; /* instead of the language's; NULL-terminated, or NULL */
	/* Code of ours, of definitions alone, that the entry runs first of all: a backend may have
	 * run it before there is a job, and the entry knows. Lives as long as the sandbox. */
	const void *ahead;
	size_t ahead_len;
	/* "NAME=value" beyond the fixed set; NULL-terminated, or NULL */
	const char *const *env;
	/* Executions are named by whoever starts them. What this one is called, for
	 * later ones to start from; and the one whose state it starts from. Either is
	 * NULL when there is none. A backend that keeps no state is never given a
	 * job that starts from one: it is refused. */
	const char *id;
	const char *state_from;
	/* It makes that state itself, in fresh walls, where nobody keeps it: such a job may
	 * go to any backend, and may name no state at all. A fact `state` says which it
	 * was: fresh, rebuilt, or what the backend calls its own way ("forked"). */
	bool rebuilds;
	/* What that may take of wall and CPU time, beyond the limits; a copy of a state that
	 * is kept has nothing of it. */
	int64_t rebuild_ms;
	/* A program that can be copied as it is when it has ended well: then it opens
	 * SANDBOX_HOLD for reading. Where the backend keeps states (of a job with an id), that call
	 * returns in copies of it only, one for each job that starts from this one, with that job's
	 * standard streams; there it reads these bytes of that job, whose code and extras
	 * are not used. Where nothing is kept it fails or there is nothing to read, and the
	 * program ends as any. NULL: it cannot be copied. A fact `held` says "yes", or why its
	 * state is not kept. */
	const void *resume;
	size_t resume_len;
	/* A program of assay's own that runs nothing of a guest's: a mode that is for guests'
	 * programs does not hold for it; all walls do. */
	bool ours;
	/* It ran before, and what it prints is only compared with that: nobody watches. For who
	 * starts it; no backend looks at it. */
	bool unseen;
	/* NULL: it has no such descriptors. A backend that cannot give them refuses the job; it
	 * never runs in what waited, and no state of it is kept. */
	const struct sandbox_port *port;
	struct sandbox_limits limits;
};

/* --- what happened --- */

enum sandbox_outcome {
	SANDBOX_EXIT,
	SANDBOX_SIGNAL,
	SANDBOX_TIMEOUT_WALL,
	SANDBOX_TIMEOUT_CPU,
	SANDBOX_MEMORY,
	SANDBOX_OUTPUT_LIMIT,
	SANDBOX_DISK_LIMIT,
	SANDBOX_PROCESS_LIMIT,
	SANDBOX_FORBIDDEN_SYSCALL,
	SANDBOX_SETUP_FAILED,
	SANDBOX_CANCELLED,
};
const char *sandbox_outcome_name(enum sandbox_outcome outcome);
int sandbox_outcome_parse(const char *name); /* -1 when unknown */

struct sandbox_forbidden {
	char syscall[32]; /* "socket", or "#9999" when the number has no name */
	char arch[16];	  /* "x86_64", "i386", "x32", "aarch64" */
	uint64_t count;
	uint64_t args[6]; /* of the first */
};

struct sandbox_stream {
	char *bytes;	/* owned; the first `limit` bytes; NUL-terminated */
	size_t len;	/* kept */
	uint64_t total; /* written by the guest, as far as it was read */
	bool truncated;
};

struct sandbox_artifact {
	char *path; /* below /out; owned; raw bytes of the name */
	uint64_t size;
	const char *type; /* "image/png", by content; "" when refused unread */
	char sha256[65];  /* "" when not kept */
	char *bytes;	  /* owned; NULL when not kept */
	bool kept;
	char *why_not; /* owned; NULL when kept */
};

struct sandbox_metrics {
	double wall_ms;
	double user_ms, system_ms; /* below 0: unknown, what watched it was lost */
	int64_t peak_memory_bytes; /* -1: unknown */
	int64_t peak_pids;	   /* -1: unknown */
	int64_t written_bytes;	   /* in tmpfs at the end; -1: unknown */
};

/* As JSON, what is unknown as null; the caller's. And back: what is not there is unknown. */
struct json;
struct json *sandbox_metrics_json(const struct sandbox_metrics *m);
void sandbox_metrics_read(const struct json *object, struct sandbox_metrics *ret);

/* The layer of what is true of one run and of no wall: what it cost, what it was called there. */
#define SANDBOX_FACT_OF_RUN "run"

/* One thing that is true of the walls of a run, in words. */
struct sandbox_fact {
	char *name;  /* "runtime"; owned */
	char *value; /* "runc 1.1.5", "yes", "no", "7"; owned */
	char *layer; /* which of several walls it is of: "outer"; owned; NULL: the only one */
};

/* The isolation this run really had. What is not named is not known. */
struct sandbox_isolation {
	struct sandbox_fact *facts; /* owned */
	size_t count;
};

/* Copies all it is given; layer may be NULL. */
void sandbox_fact_add(struct sandbox_isolation *isolation, const char *name, const char *value,
		      const char *layer);
/* The value of the first fact of that name and no layer; "" when there is none. */
const char *sandbox_fact(const struct sandbox_isolation *isolation, const char *name);
void sandbox_isolation_release(struct sandbox_isolation *isolation);

struct sandbox_result {
	enum sandbox_outcome outcome;
	int exit_code;			     /* -1 unless the guest exited */
	int signal;			     /* 0 unless a signal ended it */
	struct sandbox_forbidden *forbidden; /* owned */
	size_t forbidden_count;
	struct sandbox_stream out, err;
	struct sandbox_artifact *artifacts; /* owned */
	size_t artifact_count;
	struct sandbox_metrics metrics;
	struct sandbox_isolation isolation;
	struct sandbox_environment environment; /* strings owned by the sandbox */
	char detail[ERROR_MESSAGE_MAX]; /* for people: "memory limit of 512 MiB reached"; may be ""
					 */
};

void sandbox_result_release(struct sandbox_result *result);
#define cleanup_sandbox_result __attribute__((cleanup(sandbox_result_release)))

/* --- the sandbox --- */

struct sandbox;

/* What waits in all sandboxes that are given the same one; zeroed it is ready, and is then theirs.
 */
struct sandbox_warm_count {
	atomic_size_t interpreters;
	atomic_size_t templates; /* sandboxes that may have one */
	atomic_size_t places;	 /* containers, machines and connections that stay between jobs */
};

struct sandbox_options {
	/* Of the backend, and behind a colon what it is to be made with, where it has such a
	 * choice: "NAME:TARGET"; NULL: the first there is. */
	const char *name;
	const char *target;    /* set by sandbox_open: what stands behind the colon, or NULL */
	const char *program;   /* that does its work, if it has one; NULL: where it was installed */
	const char *cache_dir; /* for interpreter versions and digests; NULL: none kept */
	/* How many interpreters may wait for jobs to come, at most, each in walls of its own;
	 * 0: none. A backend may have fewer. Sandboxes that are given one count have so many
	 * together; NULL: this one has them for itself. Borrowed until all are closed. */
	size_t warm;
	struct sandbox_warm_count *warm_count;
	/* Of containers and machines no more than warm stay between two jobs, either; others are
	 * started for a job and end with it. Else each stays from when it is opened. */
	bool bounds_places;
	bool once; /* one job, and over: nothing is made ahead for another */
	/* How many states of jobs this process may keep for later ones to start from, at most, in
	 * their own walls, beside the last one of each of several contexts; 0: none. The oldest
	 * goes first, and those that nothing started from for long. */
	size_t states;
	int64_t keep_ms; /* how long one may be unused; 0: half an hour */
	/* Runs without the limits that the backend cannot hold, and records that they were not
	 * held; else it is not opened. */
	bool weaker;
	/* A credential by its name, for services that want one: *ret NULL when there is none; it
	 * is borrowed, until the sandbox is closed. NULL: the variable of that name. No guest
	 * gets one. */
	int (*secret)(void *self, const char *name, const char **ret, struct error *err);
	void *secret_self;
	/* Told what is waited for when something that is made once takes long, now and then; words
	 * of ours. From whichever thread waits; NULL: nobody is told. */
	void (*tell)(void *self, const char *text);
	void *tell_self;
	/* An environment of the user's own, seen read-only by every run below /env: a Python
	 * (an interpreter, a virtual environment, a conda folder), a folder of modules for
	 * JavaScript. NULL: what the system has. A backend that cannot show one refuses it. */
	const char *python, *node_modules;
};

/* What backends there are: the name of each, NULL past the end. */
const char *sandbox_name_at(size_t index);
/* The name itself where sandbox_open takes it, else NULL; that of the first for NULL. */
const char *sandbox_name_find(const char *name);
/* Whether what such a sandbox is given leaves this machine. */
bool sandbox_is_elsewhere(const char *name);
/* What stands behind a colon after the name at that index: "HOST"; NULL: nothing does. *ret_needed,
 * if it is not NULL: whether the name stands with it only. */
const char *sandbox_target_at(size_t index, bool *ret_needed);
/* The name of the first that has such a target; NULL: none does. */
const char *sandbox_with_target(const char *target);
/* For people, each with the line it says of itself: "NAME (LINE), NAME (LINE)". Caller frees. */
char *sandbox_names(void);
/* Of one that stands with something behind a colon only, the same line; NULL for any other name. */
char *sandbox_whole_name(const char *name);
/* And in short, by where they are: "NAME, NAME or NAME:HOST (PLACE)". */
struct buf;
void sandbox_list(struct buf *out, const char *between, const char *last);

/* Does not wait for what it starts: call it early, and before any key is read. What
 * could not be set up is told by the first call that needs it. A name that no
 * backend has is refused (ERR_USAGE) with the names there are. */
int sandbox_open(struct sandbox **ret, const struct sandbox_options *options, struct error *err);
/*
 * The same, with the jobs run at an `assay serve` or a conversation of this user that listens on
 * that socket, in what waits there: in a sandbox of the name that is meant, by the system's
 * interpreters. The socket must be this user's, 0600, and so must who listens: else ERR_SANDBOX.
 * When nobody listens, or nothing more is taken, absent(self) is told why (err), once, and they run
 * here, as without. One that may have been taken is never run again: ERR_SANDBOX, begun.
 */
struct sandbox_socket {
	const char *path;
	void (*absent)(void *self, const struct error *why);
	void *self;
};
int sandbox_open_at(struct sandbox **ret, const struct sandbox_socket *socket,
		    const struct sandbox_options *options, struct error *err);
const char *sandbox_name(const struct sandbox *sandbox);
/* The limits that it does not hold and its user does without (weaker), in words; NULL: none. */
const char *sandbox_not_held(const struct sandbox *sandbox);
/* Where what an environment makes may be kept; no guest has it. NULL: nowhere. */
const char *sandbox_cache_dir(const struct sandbox *sandbox);
/* No job will follow: everything is taken down while the caller does other things.
 * What results refer to stays. */
void sandbox_finish(struct sandbox *sandbox);
void sandbox_close(struct sandbox *sandbox); /* waits for that; NULL is allowed */
void sandbox_cleanup(struct sandbox **sandbox);
#define cleanup_sandbox __attribute__((cleanup(sandbox_cleanup)))

/* Told while the guest runs. All may be NULL, as may the pointer itself. */
struct sandbox_watch {
	void (*output)(void *self, bool is_stderr, const char *bytes, size_t len);
	/* Memory in use, every second or so of one that takes long, where that is known; or NULL.
	 */
	void (*used)(void *self, int64_t memory_bytes);
	/* The job was handed over, and its end is waited for: a moment for what is short and need
	 * be done neither before nor after. Not every backend has it; or NULL. */
	void (*handed)(void *self);
	void *self;
	int cancel_fd; /* readable: kill the guest, outcome cancelled; -1: none */
};

int sandbox_run(struct sandbox *sandbox, const struct sandbox_job *job,
		const struct sandbox_watch *watch, struct sandbox_result *ret_result,
		struct error *err);

/*
 * Two jobs of one language at once, each in walls of its own, joined by two
 * pipes: descriptor 3 of either reads what the other writes to its descriptor 4.
 * The second one rules: when it has ended, the first has two seconds to follow
 * and is then cancelled. What is watched is the first. Both results are set, or
 * neither; errors are those of sandbox_run. A backend that cannot join two says so; whether this
 * one can: sandbox_can_pair.
 */
bool sandbox_can_pair(const struct sandbox *sandbox);
int sandbox_run_pair(struct sandbox *sandbox, const struct sandbox_job jobs[2],
		     const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
		     struct error *err);

/*
 * A job like this is about to come: its files and input are not looked at, only whether
 * there is input, and its code, if there is any yet, only for what it imports. What can be started
 * before those are there may be started now, inside all walls that the job will have, and be used
 * for one such job. A hint: nothing waits for it, and it cannot fail.
 */
void sandbox_prepare(struct sandbox *sandbox, const struct sandbox_job *job);
/* What tells of programs to come: what they are likely to import may be made ready. All is
 * borrowed. */
struct sandbox_hint {
	const char *text; /* that speaks of them: a plan, names of files */
	size_t len;
	/* Earlier ones, newest first: where text speaks of nothing, the first one's imports count
	 * that has any. A list that NULL ends, or NULL. */
	const char *const *programs;
};
/* In that job's language. A hint in the same way. */
void sandbox_foresee(struct sandbox *sandbox, const struct sandbox_job *job,
		     const struct sandbox_hint *hint);

/*
 * A program of ours that runs no guest's code may serve: it reads question after question from
 * its descriptor 3 and writes answers to its descriptor 4. A question is 16 bytes that no other
 * has, its length in 8 bytes, the lowest first, and itself; an answer is the same with the
 * question's 16 bytes. From the second question on that a process has for it, or when one was
 * expected of a sandbox that is not for once, it is kept in
 * walls of its own, with the job's limits but for the times, for a minute and two hundred questions
 * at most. True: the whole answer to this one, at most limits.stdout_bytes. False: there is none,
 * for whatever reason; the caller then runs a job for this question alone. Where warm is 0, or
 * a backend cannot, there is never one.
 */
struct buf;
bool sandbox_ask(struct sandbox *sandbox, const struct sandbox_job *job, const void *question,
		 size_t len, int cancel_fd, struct buf *ret_answer);
/* One will be asked soon: whether it is there. A hint, as sandbox_prepare. */
bool sandbox_expect_ask(struct sandbox *sandbox, const struct sandbox_job *job);

/* Nothing will start from a state that is kept now: what holds them is let go of. */
void sandbox_forget_states(struct sandbox *sandbox);
/* The same of the one that the job of this id left; another's is no error. */
void sandbox_forget_state(struct sandbox *sandbox, const char *id);

/* Version, digest and packages of a language here (cached). */
int sandbox_describe(struct sandbox *sandbox, const struct language *language,
		     struct sandbox_environment *ret, struct error *err);

/* --- for another assay --- */

/*
 * What another assay wants of this sandbox, and the answer to it, as JSON that
 * its end of the wire reads; never NULL, the caller's. A limit of a job above most's is refused
 * (NULL: none is).
 */
struct json *sandbox_serve(struct sandbox *sandbox, const struct json *request,
			   const struct sandbox_limits *most, const struct sandbox_watch *watch);

/* --- doctor --- */

struct sandbox_layer {
	const char *name;   /* "memory limit" */
	const char *wanted; /* "yes", "none" */
	char in_force[64];
	char proof[160];   /* what was tried and what came of it */
	char remedy[256];  /* "" when in force as wanted */
	bool ok;	   /* as wanted */
	bool required;	   /* a run refuses to start without it */
	bool is_for_speed; /* it is no wall: nothing but time is lost without it */
};

/* Proves each layer by trying to break it from inside. Layers are owned by
 * the caller (free). Returns -1 only when nothing could be tried at all. */
int sandbox_doctor(struct sandbox *sandbox, struct sandbox_layer **ret_layers, size_t *ret_count,
		   struct error *err);

/* One wall in its own words, by its name, where the backend has such a text: the
 * rules of a filter, the configuration of a container. Static. */
int sandbox_wall(struct sandbox *sandbox, const char *wall, const char **ret_text,
		 struct error *err);

#endif
