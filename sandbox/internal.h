/* The parts of sandbox/ to each other. Theory of operation: keeper/keeper.c. */
#ifndef SANDBOX_INTERNAL_H
#define SANDBOX_INTERNAL_H

#include "sandbox/protocol.h"
#include "sandbox/sandbox.h"

#include <sys/types.h>

#define SANDBOX_LANGUAGES_MAX 8

struct description {
	const struct language *language;
	struct sandbox_environment environment;	/* strings owned here */
};

struct sandbox {
	char *keeper_path;
	char *cache_dir;	/* NULL: none kept */
	pid_t keeper;		/* 0: none running */
	int socket;		/* -1 with it */
	int started;		/* eventfd (protocol.h); -1 with it */
	struct protocol_hello hello;
	char filter_hash[65];	/* of the filter this keeper uses; "" until asked for */
	struct description described[SANDBOX_LANGUAGES_MAX];
	size_t described_count;
};

/* --- connection.c --- */

/* Starts the keeper when none is running, and does not wait for it. */
int connection_start(struct sandbox *s, struct error *err);
/* Starts it when needed and waits until it has set itself up: hello is valid. */
int connection_open(struct sandbox *s, struct error *err);
/* Ends the keeper and everything it started; it has a second to do so itself. */
void connection_close(struct sandbox *s);
/* The same, at once. *ret_guest_ran: a guest ran since the last connection_forget_guest. */
void connection_kill(struct sandbox *s, bool *ret_guest_ran);
void connection_forget_guest(const struct sandbox *s);
int connection_send(const struct sandbox *s, const void *message, size_t len, const int *fds,
		    size_t nfds);
/* As recvmsg: bytes, 0 at the end, -1. *ret_fd is -1 or a passed descriptor. */
ssize_t connection_receive(const struct sandbox *s, void *ret_message, size_t size, int *ret_fd);
/* Turns the keeper's failure into an error; -1. */
int connection_failure(const struct protocol_failure *failure, struct error *err);

/* --- payload.c --- */

/* A sealed memfd of the job, and how many bytes /in takes in memory. */
int payload_make(const struct sandbox_job *job, const char *interpreter, int *ret_fd,
		 int64_t *ret_input_bytes, struct error *err);
/* Descriptor the guest reads as its stdin. */
int payload_stdin(const struct sandbox_job *job, int *ret_fd, struct error *err);

/* --- artifact.c --- */

/* Collects what is in the directory, within the limits. Never follows a link. */
int artifact_collect(int dir, const struct sandbox_limits *limits, struct sandbox_result *result,
		     struct error *err);

/* --- filetype.c --- */

/* Media type by content; a name only tells kinds of text apart. */
const char *filetype_guess(const char *path, const char *bytes, size_t len);

/* --- outcome.c --- */

/* Sets outcome, exit_code, signal and detail from what the kernel said. */
void outcome_decide(const struct protocol_result *facts, const struct sandbox_limits *limits,
		    bool memory_by_cgroup, struct sandbox_result *result);

/* --- interpreter.c --- */

/* Real path of the language's interpreter, owned by the caller, or NULL. */
char *interpreter_find(const struct language *language);

/* --- run.c --- */

/* sandbox_run without the environment's description. */
int run_bare(struct sandbox *s, const struct sandbox_job *job, const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result *ret_result,
	     struct error *err);

/* --- describe.c --- */

void describe_release(struct sandbox *s);

#endif
