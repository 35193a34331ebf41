/*
 * The parts of the native sandbox to each other. A struct native is a connection to
 * one keeper process (keeper/), which builds the isolation once and runs one job
 * at a time; a second keeper is started when a pair of jobs is run for the first
 * time. The keeper is started with an empty environment, before any key is read;
 * when either side dies, everything the other one started is killed. Theory of
 * operation: keeper/README.md.
 */
#ifndef NATIVE_INTERNAL_H
#define NATIVE_INTERNAL_H

#include "base/buf.h"
#include "sandbox/backend.h"
#include "sandbox/native/far.h"
#include "sandbox/native/protocol.h"

#include <sys/types.h>

#define SANDBOX_LANGUAGES_MAX 8
#define PACKAGE_SETS_MAX      8

struct description {
	const struct language *language;
	struct sandbox_environment environment; /* strings owned here */
};

/* Where a run has what is the user's own. */
#define OWN_PLACE   "/env/"
#define OWN_PYTHON  "/env/python"
#define OWN_BASE    "/env/base"
#define OWN_MODULES "/env/node_modules"

/* A folder that every run sees there. */
struct own_folder {
	const char *seen; /* one of those */
	char *path;	  /* owned */
	int fd;
	char *cfg, *link; /* of a virtual environment: its pyvenv.cfg and what its bin/python leads
			   * to, where those are to be others in the guest; owned, or NULL */
};

/* Of the user's own (environment.c). */
struct own_environment {
	struct own_folder folders[3];
	size_t count;
	char *python;		       /* as the guest starts it; owned; NULL: the system's */
	char *binary;		       /* the program that is, here; owned, with it */
	char *python_from, *node_from; /* as they were named; owned; NULL: not */
	bool is_venv;
	char *library_path; /* "LD_LIBRARY_PATH=..." that it needs in the guest; owned; NULL: none
			     */
};

/* A template with packages (sandbox/packages.h), as far as runs have told of it. */
struct package_set {
	unsigned packages;
	enum { SET_ASKED, SET_SEEN, SET_FAILED } state;
};

struct native {
	struct own_environment own;
	char *keeper_path;
	char *cache_dir; /* NULL: none kept */
	pid_t keeper;	 /* 0: none running */
	int socket;	 /* -1 with it */
	int started;	 /* eventfd (protocol.h); -1 with it */
	struct protocol_hello hello;
	char filter_hash[65]; /* of the filter this keeper uses; "" until asked for */
	struct description described[SANDBOX_LANGUAGES_MAX];
	size_t described_count;
	struct native *second;	      /* a keeper for the other half of a pair; NULL: none yet */
	const struct native_far *far; /* how its keeper is reached; NULL: it is a child */
	struct native_far *own_far;   /* the same, or NULL: another's */
	size_t warm; /* interpreters that may wait, of all keepers that count here together */
	struct sandbox_warm_count *warm_count; /* borrowed; or own_count */
	struct sandbox_warm_count own_count;
	bool waits, has_place; /* the keeper stays between two jobs; as one of so many (places) */
	void (*tell)(void *self, const char *text); /* of sandbox_options */
	void *tell_self;
	bool once;			     /* nothing is made ahead for a job after the first */
	struct protocol_failure no_template; /* as the keeper said after the last run */
	bool has_template;    /* its keeper may have one: one of as many as may wait */
	int object;	      /* what makes a template of a Python; -1: none, or nothing waits */
	int ahead;	      /* memfd of what its template runs before any job; -1: none */
	const void *ahead_of; /* and whose it is */
	char *modules; /* that every template has besides the usual ones; NULL: by packages */
	unsigned expected_packages;		   /* that the next program is likely to import */
	struct package_set sets[PACKAGE_SETS_MAX]; /* of which its keeper has been asked */
	size_t set_count;
	uint32_t idle_ms;	     /* what waits is let go of when it was not used for so long */
	struct waiting *waiting;     /* what its keeper was last told to prepare; NULL: nothing */
	struct servers *servers;     /* programs that are asked again and again; or NULL */
	struct foresight *foresight; /* what came after what; NULL: nothing yet */
	size_t states;		     /* that may be kept, at most */
	uint32_t keep_ms;	     /* and how long, unused */
	struct contexts *contexts;   /* those that are (context.c); NULL: none yet */
};

/* --- native.c --- */

/* far is borrowed; NULL: the keeper is a child of ours. */
int native_open(struct native **ret, const struct sandbox_options *options,
		const struct native_far *far, struct error *err);
void native_close(struct native *s); /* NULL is allowed */
void native_finish(struct native *s);

/* --- connection.c --- */

/* Starts the keeper when none is running, and does not wait for it. */
int connection_start(struct native *s, struct error *err);
/* Starts it when needed and waits until it has set itself up: hello is valid. */
int connection_open(struct native *s, struct error *err);
/* s->second, started now if it was not. */
int connection_second(struct native *s, struct error *err);
/* Ends the keeper and everything it started; it has a second to do so itself. */
void connection_close(struct native *s);
/* After a job: the keeper goes, where none is to wait for another. */
void connection_leave(struct native *s);
/* The same, at once. *ret_guest_ran: a guest ran since the last connection_forget_guest. */
void connection_kill(struct native *s, bool *ret_guest_ran);
void connection_forget_guest(const struct native *s);
int connection_send(const struct native *s, const void *message, size_t len, const int *fds,
		    size_t nfds);
/* As recvmsg: bytes, 0 at the end, -1. *ret_fd is -1 or a passed descriptor. */
ssize_t connection_receive(const struct native *s, void *ret_message, size_t size, int *ret_fd);
/* Turns the keeper's failure into an error; -1. */
int connection_failure(const struct protocol_failure *failure, struct error *err);

/* --- environment.c --- */

/* What the options name. ERR_USAGE, which names it, when that is none. */
int environment_open(struct own_environment *ret, const struct sandbox_options *options,
		     struct error *err);
void environment_release(struct own_environment *e);
/* As it was named; NULL: the language has none of its own. */
const char *environment_from(const struct native *s, const struct language *language);
/* Whether what runs programs of that language is the user's own Python. */
bool environment_is_python(const struct native *s, const struct language *language);
/* What a guest sees as path, here. Caller frees; NULL: it is below none of the folders. */
char *environment_host_path(const struct native *s, const char *path);

/* --- share.c --- */

/* How the inputs of a job that are sources are seen. */
struct input_share {
	int tree;			   /* the mount with all that are; -1: none */
	int env;			   /* the one with the user's own environment; -1: none */
	const struct own_environment *own; /* that; NULL with it */
	struct input_way {
		bool mounted;
		char *why; /* it is to be copied; owned; NULL: it is no source, or mounted */
	} * ways;	   /* one an input; owned; NULL: there is no source */
	size_t count;
	size_t mounted, mapped, copied;
};

/* Has the sources of a job mounted for it. What could not be is no error: it is copied. */
int share_inputs(struct native *s, const struct sandbox_job *job, struct input_share *ret,
		 struct error *err);
void input_share_release(struct input_share *shared);
/* For the record: how many in which way. */
void input_share_describe(const struct input_share *shared, struct buf *out);

/* --- payload.c --- */

/* ERR_USAGE for a name that leads out of where it is to be. */
int payload_check_path(const struct sandbox_file *file, struct error *err);
/* A sealed memfd of the job, and how many bytes /in takes in memory. What could not be shared is
 * copied; shared may be NULL when the job has no sources. */
int payload_make(const struct sandbox_job *job, const char *interpreter,
		 const struct input_share *shared, int *ret_fd, int64_t *ret_input_bytes,
		 struct error *err);
/* The same of a job that has no files yet; modules of a template besides the usual, or NULL. */
int payload_make_waiting(const struct sandbox_job *job, const char *interpreter,
			 const char *modules, int *ret_fd, struct error *err);
/* Of a job that goes on in a copy of a state: what that reads, and the inputs that are bytes. */
int payload_make_resume(const struct sandbox_job *job, int *ret_fd, struct error *err);
/* A sealed memfd of what the job has run ahead. */
int payload_ahead(const struct sandbox_job *job, int *ret_fd, struct error *err);
/* Descriptor the guest reads as its stdin. */
int payload_stdin(const struct sandbox_job *job, int *ret_fd, struct error *err);

/* What a job with that input gets, and still empty: payload_fill_stdin makes it whole. */
int payload_empty_stdin(bool has_bytes, int *ret_fd, struct error *err);
int payload_fill_stdin(const struct sandbox_job *job, int fd, struct error *err);

/* --- waiting.c --- */

/* An interpreter that a keeper has waiting, and what it was given: read ends are ours,
 * the others go to the keeper once more with the job, which may start cold after all. */
struct waiting {
	char *key; /* of all that a job must have in common with it */
	int fds[PROTOCOL_RUN_FDS];
	int out, errors;
	bool forks;	       /* it may be a template's */
	unsigned packages;     /* which has these */
	int64_t good_until_ms; /* later, the keeper may have let go of it */
};

/* Has the keeper prepare this job, if it is of a kind that can wait. link: its ends of a
 * pair's pipes, which stay the caller's, or NULL. A hint: whatever fails, nothing waits. */
void waiting_prepare(struct native *s, const struct sandbox_job *job, const char *interpreter,
		     const int link[2]);
/* The programs to come are likely to import these: has the keeper make a template of them. */
void waiting_expect(struct native *s, const struct sandbox_job *job, const char *interpreter,
		    unsigned packages);
/* How a job that was given w, or nothing, began. */
void waiting_learn(struct native *s, unsigned packages, const struct protocol_result *facts);
/* A job has run: those to come are likely to import what it did. */
void waiting_note(struct native *s, const struct sandbox_job *job);
/* Whether the halves of such a pair can each be a fork, with a template of its own; and has one
 * prepared, which gets its pipes with the job. */
bool waiting_can_fork_pair(struct native *s, const struct sandbox_job jobs[2]);
void waiting_prepare_half(struct native *s, const struct sandbox_job *job, const char *interpreter);
/* Of a pair that is there already, and that nothing waits for: both, if they can be forks. Who runs
 * it next waits for their templates. */
void waiting_prepare_first_pair(struct native *s, const struct sandbox_job jobs[2],
				const char *interpreter);
/* Whether what waits was prepared for this job, and would run it as a fresh one does. */
bool waiting_suits(const struct native *s, const struct sandbox_job *job, const char *interpreter,
		   bool linked);
/* What waits becomes the caller's (waiting_free); NULL when it does not suit, and is gone. */
struct waiting *waiting_take(struct native *s, const struct sandbox_job *job,
			     const char *interpreter, bool linked);
void waiting_release(struct native *s);
/* The same of half a pair that has its pipes already. */
void waiting_release_joined(struct native *s);
void waiting_free(struct waiting *w); /* NULL is allowed */
/* Its keeper is gone for good, and with it a template. */
void waiting_release_template(struct native *s);

/* --- foresight.c --- */

/* Notes that these, one or a pair, have run; and prepares what came after them last time. */
void foresight_note(struct native *s, const struct sandbox_job *jobs, size_t count,
		    const char *interpreter);
void foresight_release(struct native *s);

/* --- server.c --- */

/* As sandbox_ask and sandbox_expect_ask. */
bool server_ask(struct native *s, const struct sandbox_job *job, const void *question, size_t len,
		int cancel_fd, struct buf *ret_answer);
bool server_expect(struct native *s, const struct sandbox_job *job);
void servers_finish(const struct native *s);
void servers_release(struct native *s);

/* --- context.c --- */

/* Whether a job is one whose state can be kept here, or copied. */
bool context_takes(const struct native *s, const struct sandbox_job *job);
/* As native_run, of such a one. */
int context_run(struct native *s, const struct sandbox_job *job, const char *interpreter,
		const struct sandbox_watch *watch, struct sandbox_result *ret_result,
		struct error *err);
void contexts_forget(void *self, const char *id); /* as sandbox_forget_state */
void contexts_finish(const struct native *s);
void contexts_release(struct native *s);

/* --- outcome.c --- */

/* Sets outcome, exit_code, signal and detail from what the kernel said. */
void outcome_decide(const struct protocol_result *facts, const struct sandbox_limits *limits,
		    bool memory_by_cgroup, struct sandbox_result *result);

/* --- interpreter.c --- */

/* Real path of the language's interpreter, owned by the caller, or NULL. */
char *interpreter_find(const struct language *language);

/* --- reach.c: where the keeper is somewhere else --- */

/* Where a path really is and can be executed there; NULL: it is not. For the caller to free. */
int far_find(struct native *s, const char *path, char **ret_real, struct error *err);
/* As interpreter_find. */
int far_interpreter(struct native *s, const struct language *language, char **ret_path,
		    struct error *err);
/* Of what the interpreter said of itself, and of its bytes. */
void far_digest(struct native *s, const char *interpreter, const char *said, char ret[65]);

/* --- run.c --- */

/* native_run with an interpreter that is known. */
int run_bare(struct native *s, const struct sandbox_job *job, const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result *ret_result,
	     struct error *err);

/* As sandbox_run and sandbox_run_pair. */
int native_run(struct native *s, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret_result, struct error *err);
int native_run_pair(struct native *s, const struct sandbox_job jobs[2],
		    const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
		    struct error *err);
/* As sandbox_prepare. */
void native_prepare(struct native *s, const struct sandbox_job *job);
/* As sandbox_foresee. */
void native_foresee(struct native *s, const struct sandbox_job *job,
		    const struct sandbox_hint *hint);
/* Two interpreters that wait, joined; s->second is there. */
void native_prepare_pair(struct native *s, const struct sandbox_job jobs[2],
			 const char *interpreter);

/* --- describe.c --- */

int native_describe(struct native *s, const struct language *language,
		    struct sandbox_environment *ret, struct error *err);
void describe_release(struct native *s);
/* Real path of the language's interpreter where its jobs run, for the caller to free; NULL: there
 * is none. */
int native_interpreter(struct native *s, const struct language *language, char **ret_path,
		       struct error *err);

/* --- doctor.c --- */

int native_doctor(struct native *s, struct sandbox_layer **ret_layers, size_t *ret_count,
		  struct error *err);
/* "seccomp": the filter in force here in libseccomp's text form. Where control groups
 * for memory and processes are missing it is stricter, and asks the keeper about
 * each fork and each shared mapping. */
int native_wall(struct native *s, const char *wall, const char **ret_text, struct error *err);

#endif
