/*
 * The keeper's insides. Theory of operation: README.md.
 *
 * Everything here is libc only and allocates nothing: the keeper is the parent
 * of hostile processes and stays small enough to reason about. Functions
 * return 0 or -1 with errno, and the caller names the step that failed.
 */
#ifndef SANDBOX_KEEPER_KEEPER_H
#define SANDBOX_KEEPER_KEEPER_H

#include "sandbox/native/keeper/groups.h"
#include "sandbox/native/protocol.h"

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GUEST_ID 65534u /* as the guest sees itself */
/* As the host sees it when root started us: owns nothing, and is one of each
 * keeper's own, for the kernel counts by user what a guest can use up (descriptors
 * on their way, pages of pipes). Above what directories of users give out. */
#define HOST_ID	 2100000000u
#define HOST_IDS (1u << 22) /* as many as there can be processes */

/* --- stream.c: this program as an end of a stream (stream.h) --- */

/* As the arguments say; its exit status. */
int stream_main(char **arguments);

/* --- boot.c: this program as pid 1 of a machine --- */

#define KEEPER_INIT "/init" /* what that is called there */

void boot_main(void) __attribute__((noreturn));

/* --- util.c --- */

/* Names the step and returns -1, keeping errno in the failure. */
int failure_set(struct protocol_failure *failure, const char *step, const char *remedy);
ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size);
int file_write(int dirfd, const char *path, const char *text);
/* A message with up to PROTOCOL_FDS_MAX descriptors; never raises SIGPIPE. */
int message_send(int fd, const void *message, size_t len, const int *fds, size_t nfds);
/* Bytes received, 0 at the end. Descriptors that did not come are -1. */
ssize_t message_receive(int fd, void *ret_message, size_t size, int *ret_fds, size_t nfds);
int64_t now_us(void);
void close_all(int *fds, size_t count);

/* --- remedy.c --- */

#define REMEDY_NO_PROC "/proc is not mounted here: `mount -t proc proc /proc`"

/* Why a user namespace, or a mount in one, is refused here, and what to do. root is
 * a directory to look from; -1: that of this process. errno is kept by the caller. */
const char *remedy_userns(int root);

/* --- root.c --- */

#define ROOT_BYTES (8ll << 20) /* of the tmpfs that is the root */

/* Drops root and makes the namespaces a keeper has. */
int root_unshare(uint32_t *ret_namespaces, struct protocol_failure *failure);
/* The net namespace takes as long as the rest of the start: the launcher makes it, beside
 * root_enter, and before it makes the first init. */
int root_isolate_net(struct protocol_failure *failure);
/* Builds the root, enters it and lets go of the old one. */
int root_enter(struct protocol_failure *failure);
/* Where there is one mount namespace for all, ours alone: the same root, and it is entered. What is
 * bound there is read-only already. */
int root_enter_single(struct protocol_failure *failure);
/* For the program that is a machine (machine.c): an unprivileged user, who may use /dev/kvm if kvm,
 * in namespaces of its own; then, in a child, which is the first of its pid namespace, a root with
 * /usr and a few devices. */
int root_machine_spaces(bool kvm, struct protocol_failure *failure);
int root_machine(struct protocol_failure *failure);

/* --- launch.c --- */

/* What the launcher, init and the guest tell the keeper. */
enum event_kind {
	EVENT_READY,	/* launcher: in its groups */
	EVENT_BORN,	/* launcher: init's pid, with its pidfd */
	EVENT_LISTENER, /* guest: the filter is on, with the listener */
	EVENT_WAITING,	/* init: the interpreter waits for its program, with enum started_fd */
	EVENT_STARTED,	/* init: the interpreter runs, with enum started_fd, or what waited does */
	EVENT_DONE,	/* init: the guest ended */
	EVENT_FAILED,	/* any: a step of the set-up */
	EVENT_HELD,	/* init: the guest ended well and holds its state (context.h) */
};

/* What comes with EVENT_WAITING or EVENT_STARTED. The mount namespace is only held: whoever
 * lets go last waits for an RCU grace period, and that shall not be init. */
enum started_fd { STARTED_OUT, STARTED_PROC, STARTED_MOUNTS, STARTED_FDS };

struct event {
	uint32_t kind;
	int32_t pid;
	int32_t status; /* of DONE; for READY whether the cgroup namespace is new */
	int64_t at_us;
	struct protocol_failure failure;
};

/* To the launcher: make an init whose disk is this large. Or a template
 * (template.h). */
struct standby {
	int64_t disk_bytes, inodes;
	uint32_t fresh_net; /* in a new net namespace, as those after it */
	uint32_t makes_template;
};

/* To that init: run this. */
struct launch {
	struct protocol_limits limits;
	uint32_t filter;
	int32_t landlock_abi;
	uint32_t limit_data; /* RLIMIT_DATA, where no cgroup counts memory */
	uint32_t pids_cgroup;
	uint32_t ours; /* processes of ours that count as the guest's, but keeper, launcher, init */
	uint32_t lease_ms; /* so long at most one waits for a file; 0: it cannot */
	uint32_t waits;	   /* there is no program yet: another launch brings it */
	uint32_t forks;	   /* and a template makes the guest, who is told by GO_FD */
	uint32_t holds;	   /* the guest may hold its state, and init serves a context (context.h) */
};

/* With the second launch: a socket to that guest, and after it its pipes, if it is linked. */
enum go_fd { GO_FD = PROTOCOL_FD_LINK_IN, GO_LINK_IN, GO_LINK_OUT, GO_FDS };

struct launcher {
	pid_t pid;  /* 0: none */
	int orders; /* struct standby goes in */
	int events; /* struct launch goes in, to init; struct event comes out */
};

int launcher_start(const struct cgroups *c, struct launcher *ret);

/* --- init.c --- */

/* Pid 1 of a run. Never returns. */
void init_main(const struct standby *standby, int keeper) __attribute__((noreturn));

/* One tmpfs for all a guest may write, with these options, so that one limit holds for all; the
 * whole of it, which no guest sees. */
int init_mount_disk(const char *options, int *ret_root);

/* --- single.c: this program where the kernel is gVisor's --- */

#define KEEPER_SINGLE "--single" /* its argument */

/* Serves one run; its exit status. */
int single_main(void);

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
	int fds[PROTOCOL_RUN_FDS];
	int keeper;
	int started_fd; /* PROTOCOL_STARTED_FD, wherever it is by now */
	bool waits;	/* init still has its capabilities, and tells when it runs a job */
	struct protocol_failure failure;
	bool started;	    /* all steps done, exec was tried */
	int64_t started_us; /* when; init may be scheduled again much later */
};

/* Confines itself and becomes the interpreter. Returns only on failure. */
int guest_main(void *guest);

/* --- walls.c --- */

/* All that needs no job, the filter last: its listener goes to g->keeper. Both
 * return -1 with the failure in g. */
int walls_raise(struct guest *g);
/* The job's limits and descriptors. */
int walls_take_job(struct guest *g);

/* --- sandbox/native/warm --- */

#define WARM_ORDERS_FD 3 /* of a template, at exec: a SOCK_SEQPACKET socket */
#define WARM_OBJECT_FD 4 /* and what LD_PRELOAD names by it; both are gone after */
#define WARM_AHEAD_FD  5 /* code it runs, if there is any */
#define WARM_MODULES   "ASSAY_WARM_MODULES"

/* To a template: make an interpreter that waits, a child of that init. EVENT_BORN is
 * the answer, or EVENT_FAILED. Its own socket says EVENT_LISTENER; a struct launch with
 * the descriptors of enum protocol_run_fd, the first the eventfd of EVENT_STARTED, lets
 * it go, and it answers EVENT_STARTED. */
struct warm_order {
	uint32_t namespaces;  /* CLONE_NEW*, of init */
	struct launch launch; /* of which the limits are told later */
};

enum warm_order_fd { WARM_INIT /* its pidfd */, WARM_SOCKET /* the new one's */, WARM_ORDER_FDS };

/* --- payload.c --- */

/* Writes /in and /work and fills program, which points into the payload. */
struct payload {
	void *map; /* NULL: none */
	size_t len;
};

/* fds: those of a run, up to its standard input. forked: what its guest was forked for, which has
 * run already what that says; NULL: it is no fork. */
int payload_unpack(const int *fds, const struct payload *forked, struct payload *ret_payload,
		   struct program *ret_program, const char **ret_step);
/* The same, but that inputs are not made read-only, if there are any. */
int payload_lay_out(const int *fds, const struct payload *forked, struct payload *ret_payload,
		    struct program *ret_program, bool *ret_inputs, const char **ret_step);
void payload_unmap(struct payload *payload);
/* Before all else in an init. */
void payload_begin(void);
/* Whether who opens that waits for a lease on the file itself, which is released; it is an error
 * when there was none any more. */
bool payload_holds(void);
int payload_release(void);
/* The path of the program that a waiting interpreter opens, below /work; NULL: none. */
const char *payload_waits_for(const struct payload *payload);
/* The bytes of that file of /work; -1: it has no such file. */
int payload_find_work(const struct payload *payload, const char *path, const char **ret_bytes,
		      size_t *ret_len);
/* What of it is a template's alone. */
struct payload_warm {
	const char *modules; /* it imports; NULL: the usual ones */
	const char *ahead;   /* the name of the code it runs; NULL: none */
};
/* Reads how a program is started, and a template of it; writes nothing. */
int payload_read(int fd, struct payload *ret_payload, struct program *ret_program,
		 struct payload_warm *ret_warm);
/* Of a job that goes on in a copy: what that reads, in the map of ret_payload. */
int payload_read_resume(int fd, struct payload *ret_payload, const char **ret_bytes,
			size_t *ret_len);
/* Its inputs that came as bytes, below the folder in; and away again. */
int payload_lay_inputs(const struct payload *payload, int in);
void payload_take_inputs(const struct payload *payload, int in);

/* Whether it would be started in the same way. */
bool payload_same_program(const struct program *a, const struct program *b);

/* --- share.c --- */

/* The program when it is started to share inputs: its exit code. */
int share_main(void);

/* --- confine.c --- */

/* For this process and all it starts: nothing can be gained by exec. keep: what it has
 * now is kept over exec, as a template needs, till confine_drop_capabilities. */
int confine_fix_privileges(bool keep);
/* Whether that was done, but for ambient capabilities. */
bool confine_is_fixed(void);
int confine_drop_capabilities(void);
int confine_landlock_abi(void);
int confine_landlock(int abi);
int confine_fixed_rlimits(uint32_t filter);
int confine_job_rlimits(const struct launch *launch);
int confine_open_files(const struct launch *launch);
/* The listener's descriptor, or -1. */
int confine_seccomp(uint32_t filter);
/* The one that asks nobody. */
int confine_seccomp_plain(void);

/* --- crash.c --- */

/* A core_pattern that is a pipe starts the host's handler, as the host's root,
 * at a limit of 0; 1 is the kernel's word for "not even that" (coredump.c). */
#define CORE_NONE 1

struct crash {
	int pattern;  /* the host's core_pattern; -1: none */
	bool limited; /* a guest can have the limit CORE_NONE */
};

void crash_open(struct crash *c);
/* -1 when a guest that crashes would start a program of the host. */
int crash_check(const struct crash *c, struct protocol_failure *failure);
/* The error that a guest gets which sets its limit on core files; 0: none. EPERM also
 * when what it asks for cannot be had, as before the run's proc is known (-1). */
int crash_answer_limit(int proc, pid_t thread, uint64_t address);

/* --- garbage.c --- */

/* Waits until no socket is left in a run's net namespace, all of whose processes
 * are dead, by its sockstat; false when some are that take long to go. */
bool garbage_collect(int sockstat, const struct cgroups *c);

/* --- grant.c --- */

#define SHARED_MAX 2048

/* A shared mapping; by: the thread that was allowed it, 0 when it is made. */
struct shared {
	int64_t bytes;
	pid_t by;
};

/* What a run may still have, where no control group counts it. */
struct grants {
	bool counts_pids, counts_memory; /* no group does */
	int64_t processes, memory_bytes; /* the limits */
	int proc;			 /* of the run, -1 until it is known; not ours */
	int64_t pids;			 /* at most these many are there */
	int64_t count_us;		 /* when to count again, at the limit */
	bool at_limit;			 /* at the last count */
	struct shared shared[SHARED_MAX];
	size_t shared_count;
	int64_t shared_bytes; /* their length */
	int64_t sockets;      /* at most these many are there */
	int64_t other_bytes;  /* all memory but theirs, at the last look */
	uint64_t forks_refused, shared_refused;
};

/* 0: the call may go on; else the error it gets. */
int grant_fork(struct grants *g);
int grant_sockets(struct grants *g, int64_t count);
int grant_shared(struct grants *g, pid_t thread, uint64_t len);
/* Takes those out of the sum that are gone. */
void grant_count_shared(struct grants *g);

/* --- ledger.c --- */

#define LEDGER_SLOTS 4096 /* of processes between two looks: more, and nothing is known */

struct ledger_row {
	pid_t pid; /* of the run's namespace; 0: none */
	long threads;
	int64_t us, at_us; /* what it had used then */
	bool ended;	   /* and it can use no more */
	bool seen;	   /* at the look that is going on */
};

struct ledger_page {
	struct ledger_row rows[LEDGER_SLOTS];
	size_t count;
};

enum ledger_asked { LEDGER_NOTHING, LEDGER_BIRTH, LEDGER_THREAD, LEDGER_END };

/* The CPU time of a run's processes, where no control group counts it. */
struct ledger {
	bool counts;
	bool reads; /* /proc has the numbers we have */
	bool lost;  /* there were too many */
	long processors;
	int64_t started_us, looked_us, begun_us; /* the last look; that going on */
	int64_t live_us;			 /* of those that live */
	int64_t known_us;			 /* of those that do not */
	int64_t charged_us;			 /* what these may have used besides */
	int64_t born, born_us; /* granted since the last look, less those met; the first's time */
	int64_t late, late_us; /* the same of the look before */
	bool threads_born;
	enum ledger_asked asked; /* what is about to be granted */
	struct ledger_row ending;
	struct ledger_page pages[2]; /* what the last look saw, and ends since; the next's */
	int current;
};

void ledger_start(struct ledger *l, long processors, int64_t now);
/* A call that will be let go on: what it says counts when it was, by commit. */
void ledger_propose(struct ledger *l, pid_t thread, const char *call, uint64_t flags);
void ledger_commit(struct ledger *l);
/* A look: each process but init between begin and settle. */
void ledger_begin(struct ledger *l);
void ledger_see(struct ledger *l, pid_t pid, long threads, int64_t us, bool zombie);
void ledger_settle(struct ledger *l);
/* At least what the processes used till the last look. */
int64_t ledger_us(const struct ledger *l);
/* The next look should be now. */
bool ledger_is_filling(const struct ledger *l);

/* --- notify.c --- */

struct notify {
	int listener; /* -1: none */
	struct grants *grants;
	struct ledger *ledger;
	int64_t tokens, refilled_us;
	struct protocol_result *result;
	bool foreign; /* a foreign architecture was tried: kill */
};

/* Answers what is waiting, as far as the rate allows. */
void notify_answer(struct notify *n);
/* Microseconds until the rate allows another answer; 0: now. */
int64_t notify_wait_us(const struct notify *n);

/* --- supervise.c --- */

struct usage {
	int64_t memory_bytes, user_us, system_us, pids;
	int64_t sockets_bytes;		  /* of that memory */
	int64_t processes, address_bytes; /* of those with memory */
	pid_t init;			  /* of the run whose usage it is */
	struct inodes *inodes;		  /* of shared mappings, where those are counted */
	struct stopped *stopped;
	struct maps *maps;
	struct ledger *ledger; /* of CPU time, where that is counted */
};

/* Kills every process of a run by itself, through its /proc. */
void supervise_kill(int proc);

/* Stops it; whether it is stopped by now. */
bool supervise_stop_one(int proc, pid_t pid);
/* Its threads; -1: it is not there. */
int64_t supervise_threads(int proc, pid_t pid);
/* When it began, in ticks since the host did; 0: it is not there. */
uint64_t supervise_since(int proc, pid_t pid);

/* Those of a run that its own had stopped already, as far as there is room. */
#define STOPPED_MAX 1024
struct stopped {
	long pids[STOPPED_MAX];
	size_t count;
};

/* All but init and those: killed; how many there are, -1: not to be had. */
void supervise_kill_others(int proc, struct stopped *spared);
int64_t supervise_others(int proc, struct stopped *spared);
void supervise_stopped(int proc, struct stopped *ret);
/* Stops every process but init, and has all go on that were not stopped before. */
void supervise_stop(int proc);
void supervise_continue(int proc, struct stopped *before);

/* Counts what no cgroup does. proc and out are directories of the run, init its
 * first process, other_bytes what is known to be there besides. */
int supervise_count(int proc, int out, pid_t init, int64_t other_bytes, int64_t memory_limit,
		    struct ledger *ledger, struct usage *ret_usage);
/* What the maps of those that have very many take themselves, by what was seen of
 * them; more than the limit at the worst; -1: not to be had. */
int64_t supervise_maps(int proc, const struct usage *seen, int64_t memory_limit);
/* The most that lies in the queues a socket writes to. */
int64_t supervise_socket_bytes(void);
/* How many sockets a sockstat says; -1: it cannot be read. */
int64_t supervise_sockets(int sockstat);
/* How many a run has, by its proc; -1: not to be had. */
int64_t supervise_sockets_of(int proc);
/* Processes and threads but init; -1: not to be had. */
int64_t supervise_pids(int proc);
/* How many shared anonymous mappings any process has, ASIDE_LATE at the worst; -1:
 * not to be had, or too much to read. */
int64_t supervise_shared(int proc);

/* --- aside.c --- */

#define ASIDE_LATE INT64_MAX

/* What of() says, -1 when that could not be had, or ASIDE_LATE: it may wait for what
 * a guest holds, and runs in another process; the guest is stopped if need be. */
int64_t aside_count(int proc, int64_t (*of)(int proc, const void *what), const void *what);

/* --- absent.c --- */

struct absent {
	int64_t seen, system_us, since_us; /* on the host, used by the run, and when */
	int64_t ours;			   /* names, since the run began */
	int64_t doubt_us;		   /* till when nobody can tell */
};

/* What the names take that a run looked for in vain; system_us is the time it may have
 * spent in the kernel so far. */
int64_t absent_bytes(struct absent *a, int proc, int64_t system_us, int64_t memory_limit);

/* --- relation.c --- */

/* Whether pid, a child of parent, is in the memory of that. Both are numbers of
 * proc, init is one of ours. False when it cannot be told. */
bool relation_shares_memory(int proc, pid_t init, pid_t pid, pid_t parent);

/* --- job.c --- */

struct keeper {
	struct cgroups cgroups;
	struct protocol_hello hello;
	int client;	   /* socket to assay */
	long processors;   /* that a run can have */
	uint32_t lease_ms; /* of struct launch */
	int64_t file_size; /* the largest file we and a guest may write */
	struct crash crash;
	struct launcher launcher;
	struct standby standby; /* as it was ordered */
	bool ordered;		/* an init is waiting, or on its way */
	int sockets;		/* sockstat of the launcher's net namespace; -1: not open */
	bool waiting;		/* that init has a guest that waits (job.c) */
	bool keeps;		/* an init serves a context (context.h) */
};

/* --- standby.c --- */
/* Has an init made for the next run, which may need another size of disk. */
void standby_order(struct keeper *k, const struct standby *standby);
/* -1: there is none, and none can be had. */
int standby_ensure(struct keeper *k, const struct protocol_limits *limits);
/* Whether the next run may share the net namespace of the last. */
bool standby_net_is_clean(struct keeper *k);
/* The launcher of a keeper that will have no other run: it dies while what came of this one is
 * told. */
void standby_dismiss(const struct keeper *k);
void standby_discard(struct keeper *k);

/* --- job.c --- */
/* -1 when no file may be as large. */
int run_check_file_size(const struct keeper *k, int64_t bytes, struct protocol_failure *failure);

/* One run, from request to result. -1 when assay is gone. */
int run_job(struct keeper *k, const struct protocol_request *request, const int *fds);
/* Has an interpreter wait for a job like this, in place of any that does: a hint. The
 * payload is that of a job without files. */
void job_prepare(struct keeper *k, const struct protocol_request *request, const int *fds);
/* That state is no more; with the last one its context. */
void job_drop(struct keeper *k, const struct protocol_request *request);
/* Answers for one that waits, until assay speaks. */
void job_idle(struct keeper *k);

#endif
