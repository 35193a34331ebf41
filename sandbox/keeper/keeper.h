/*
 * The keeper's insides. Theory of operation: keeper.c.
 *
 * Everything here is libc only and allocates nothing: the keeper is the parent
 * of hostile processes and stays small enough to reason about. Functions
 * return 0 or -1 with errno, and the caller names the step that failed.
 */
#ifndef SANDBOX_KEEPER_KEEPER_H
#define SANDBOX_KEEPER_KEEPER_H

#include "sandbox/protocol.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GUEST_ID 65534u		/* as the guest sees itself */
#define HOST_ID 1900000001u	/* as the host sees it when root started us: owns nothing */

/* --- util.c --- */

/* Names the step and returns -1, keeping errno in the failure. */
int failure_set(struct protocol_failure *failure, const char *step, const char *remedy);
ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size);
int file_write(int dirfd, const char *path, const char *text);
/* A message with up to PROTOCOL_RUN_FDS descriptors; never raises SIGPIPE. */
int message_send(int fd, const void *message, size_t len, const int *fds, size_t nfds);
/* Bytes received, 0 at the end. Descriptors that did not come are -1. */
ssize_t message_receive(int fd, void *ret_message, size_t size, int *ret_fds, size_t nfds);
int64_t now_us(void);
void close_all(int *fds, size_t count);

/* --- cgroup.c --- */

enum cgroup_file {
	CG_MEMORY_LIMIT, CG_SWAP_LIMIT, CG_MEMORY_PEAK, CG_MEMORY_EVENTS, CG_PIDS_LIMIT,
	CG_PIDS_EVENTS, CG_PIDS_PEAK, CG_CPU_QUOTA, CG_CPU_USER, CG_CPU_SYSTEM, CG_FILES,
};

#define CGROUP_DIRS_MAX 4

/*
 * The keeper's groups: one per hierarchy. Files are opened while we may still
 * be root and used through their descriptors ever after; -1 where the
 * controller is not to be had.
 */
struct cgroups {
	int files[CG_FILES];
	int parents[CGROUP_DIRS_MAX];	/* directory the group was made in */
	int attach[CGROUP_DIRS_MAX];	/* a process writes "0" to join */
	size_t count;
	char name[64];			/* of the group, in each parent */
	bool has_v1, has_v2;		/* of those in use */
	bool swap_v2;			/* CG_SWAP_LIMIT counts swap alone */
	int64_t memory_limit, pids_limit;	/* last written; -1: none */
	bool quota_v2, quota_lifted;
};

void cgroups_open(struct cgroups *c);
/* Starts the process that removes the groups when this one is gone. */
int cgroups_start_janitor(const struct cgroups *c);
int cgroups_join(const struct cgroups *c);
int cgroups_limit(struct cgroups *c, const struct protocol_limits *limits, int64_t extra_bytes);
void cgroups_lift_quota(struct cgroups *c);	/* so that killed tasks can die */
uint64_t cgroups_oom_kills(const struct cgroups *c);
uint64_t cgroups_pids_refused(const struct cgroups *c);
int64_t cgroups_memory_peak(const struct cgroups *c);
int64_t cgroups_pids_peak(const struct cgroups *c);
/* CPU time so far in microseconds; -1 where nobody counts. */
int64_t cgroups_cpu_us(const struct cgroups *c, bool system);

/* --- root.c --- */

/* Drops root, makes the namespaces a keeper has, builds the root and enters it. */
int root_enter(uint32_t *ret_namespaces, struct protocol_failure *failure);

/* --- launch.c --- */

/* What the launcher, init and the guest tell the keeper. */
enum event_kind {
	EVENT_READY,	/* launcher: in its groups */
	EVENT_BORN,	/* launcher: init's pid, with its pidfd */
	EVENT_LISTENER,	/* guest: the filter is on, with the listener */
	EVENT_STARTED,	/* init: the interpreter runs, with /out and /proc */
	EVENT_DONE,	/* init: the guest ended */
	EVENT_FAILED,	/* any: a step of the set-up */
};

struct event {
	uint32_t kind;
	int32_t pid;
	int32_t status;		/* of DONE; for READY whether the cgroup namespace is new */
	int64_t at_us;
	struct protocol_failure failure;
};

struct launch {
	struct protocol_limits limits;
	uint32_t filter;
	int32_t landlock_abi;
	uint32_t limit_data;	/* RLIMIT_DATA, where no cgroup counts memory */
	uint32_t pids_cgroup;
};

/* The launcher's pid and our end of its socket. */
int launcher_start(const struct cgroups *c, int *ret_fd, pid_t *ret_pid);

/* --- init.c --- */

/* Pid 1 of a run. Never returns. fds: enum protocol_run_fd; keeper: socket. */
void init_main(const struct launch *launch, const int *fds, int keeper) __attribute__((noreturn));

/* --- guest.c --- */

/* The program to start, read out of the payload. */
struct program {
	const char *path;
	const char *argv[PROTOCOL_ARGS_MAX + 1];
	const char *env[PROTOCOL_ARGS_MAX + PROTOCOL_ENV_FIXED + 1];
};

/* Shared with the guest's first steps, which run in init's memory (vfork). */
struct guest {
	const struct launch *launch;
	const struct program *program;
	const int *fds;
	int keeper;
	struct protocol_failure failure;
	bool started;		/* all steps done, exec was tried */
};

/* Confines itself and becomes the interpreter. Returns only on failure. */
int guest_main(void *guest);

/* --- payload.c --- */

/* Writes /in and /work and fills program, which points into the payload. */
int payload_unpack(int fd, struct program *ret_program, const char **ret_step);

/* --- confine.c --- */

int confine_drop_capabilities(void);
int confine_landlock_abi(void);
int confine_landlock(int abi);
int confine_rlimits(const struct launch *launch);
/* The listener's descriptor, or -1. */
int confine_seccomp(uint32_t filter);

/* --- notify.c --- */

struct notify {
	int listener;		/* -1: none */
	int64_t tokens, refilled_us;
	struct protocol_result *result;
	bool foreign;		/* a foreign architecture was tried: kill */
};

/* Answers what is waiting, as far as the rate allows. */
void notify_answer(struct notify *n);
/* Microseconds until the rate allows another answer; 0: now. */
int64_t notify_wait_us(const struct notify *n);

/* --- supervise.c --- */

struct usage {
	int64_t memory_bytes, cpu_us, pids;
};

/* Counts the processes of a run where no cgroup does, through its /proc. */
int supervise_count(int proc, int out, int64_t memory_limit, struct usage *ret_usage);

/* --- run.c --- */

struct keeper {
	struct cgroups cgroups;
	struct protocol_hello hello;
	int client;		/* socket to assay */
	int launcher;		/* socket to the launcher; -1: none */
	pid_t launcher_pid;
};

/* One run, from request to result. -1 when assay is gone. */
int run_job(struct keeper *k, const struct protocol_request *request, const int *fds);

#endif
