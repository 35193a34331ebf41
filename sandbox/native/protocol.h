/*
 * What assay (sandbox/) and its keeper (sandbox/keeper/) say to each other.
 *
 * One SOCK_SEQPACKET socket, one fixed structure per message, descriptors by
 * SCM_RIGHTS. Both programs come from one build; the version only catches an
 * installation that mixes two.
 *
 *	keeper -> assay   protocol_hello     once, after its set-up
 *	assay  -> keeper  protocol_request   RUN with payload, inputs, stdin, stdout, stderr,
 *	                                     and of a linked run the two ends of its
 *	                                     pipes; KILL while a run is going on
 *	                                     PREPARE between runs, as a RUN whose payload
 *	                                     has no files but the name of the program,
 *	                                     and what makes a template of an interpreter
 *	keeper -> assay   protocol_result    once per RUN, with /out's directory
 *
 * A keeper somewhere else is spoken to through a near end (keeper/near.c), which says
 * the same but for this: it answers FIND by FOUND, says BUSY while it carries much
 * before or after a run, and instead of the directory gives a list (protocol_left).
 *
 * Beside it an eventfd, which nobody waits for: when the keeper is dead or does
 * not answer, it tells a guest that ran from one that never did.
 */
#ifndef SANDBOX_PROTOCOL_H
#define SANDBOX_PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define PROTOCOL_VERSION 7u
/* What a far end is asked by this name is one for each start of a kernel. */
#define PROTOCOL_BOOT_ID       "/proc/sys/kernel/random/boot_id"
#define PROTOCOL_FD	       3 /* the keeper's end of the socket */
#define PROTOCOL_STARTED_FD    4 /* an eventfd: a guest adds 1 before it runs */
#define PROTOCOL_FORBIDDEN_MAX 32
#define PROTOCOL_ARGS_MAX      512 /* arguments and environment, each */
#define PROTOCOL_ENV_FIXED     16  /* room for the environment every run has */

enum protocol_kind {
	PROTOCOL_HELLO = 1,
	PROTOCOL_RUN,
	PROTOCOL_KILL,
	PROTOCOL_RESULT,
	PROTOCOL_PREPARE,
	PROTOCOL_FIND,
	PROTOCOL_FOUND,
	PROTOCOL_BUSY,
	PROTOCOL_DROP, /* between runs: the state `from` is no more */
	PROTOCOL_USED, /* of a run that tells, while it goes on */
};

/* Why we killed a guest: our own record, the only source of those outcomes. */
enum protocol_reason {
	PROTOCOL_NOT_KILLED,
	PROTOCOL_KILL_WALL,
	PROTOCOL_KILL_CPU,
	PROTOCOL_KILL_MEMORY,
	PROTOCOL_KILL_OUTPUT,
	PROTOCOL_KILL_FORBIDDEN,
	PROTOCOL_KILL_CANCELLED,
};

/* A set-up step that failed. An empty step: none did. */
struct protocol_failure {
	char step[64];
	char remedy[480]; /* what the person can do; may be empty */
	int32_t errnum;
};

/* To an errno of ETOOMANYREFS, which any message with descriptors may get. */
#define PROTOCOL_REMEDY_IN_FLIGHT                                                                 \
	"programs of this user have more descriptors on their way through sockets than the hard " \
	"limit on open files here: raise that (`nofile` in /etc/security/limits.conf, "           \
	"LimitNOFILE= of a systemd unit), or end those programs"

enum protocol_namespace {
	PROTOCOL_NS_USER = 1,
	PROTOCOL_NS_PID = 2,
	PROTOCOL_NS_NET = 4,
	PROTOCOL_NS_MOUNT = 8,
	PROTOCOL_NS_IPC = 16,
	PROTOCOL_NS_UTS = 32,
	PROTOCOL_NS_CGROUP = 64,
};

/* Which filter. The second is for where a group for memory, for processes or for CPU
 * time is missing: it refuses memory that only a group can see, and asks the keeper about
 * each fork, end and shared mapping. The third is the first for a kernel in which nobody can
 * be asked: what is not allowed is refused there, and not told. */
enum protocol_filter {
	PROTOCOL_FILTER_STANDARD,
	PROTOCOL_FILTER_SUPERVISED,
	PROTOCOL_FILTER_PLAIN,
};

struct protocol_hello {
	uint32_t kind, version;
	struct protocol_failure failure;
	uint32_t namespaces; /* enum protocol_namespace */
	uint32_t filter;     /* enum protocol_filter */
	int32_t landlock_abi;
	uint32_t guest_uid;
	uint8_t memory_cgroup, pids_cgroup, cpu_cgroup, cpu_count_cgroup;
	uint8_t single; /* it serves one run (keeper/single.c) */
	char cgroup[8]; /* "v2", "v1", "hybrid", "none" */
};

struct protocol_limits {
	int64_t wall_ms, cpu_ms, memory_bytes, processes, open_files, disk_bytes, inodes;
};

struct protocol_request {
	uint32_t kind;
	uint32_t reason; /* of a KILL */
	/* Of a RUN: the last PREPARE was for such a job, with these very descriptors. The
	 * keeper may start it cold all the same. */
	uint32_t waiting;
	/* It may run in a fork of a template. Of a PREPARE: which the keeper makes with the object
	 * that comes as PROTOCOL_FD_OBJECT. */
	uint32_t forks;
	uint32_t soon;		/* of a PREPARE: the RUN is there already, and comes at once */
	uint32_t only_template; /* of a PREPARE: nobody shall wait, but there shall be one */
	/* Of a PREPARE: its pipes come with the job, so that nothing but a fork can wait for it. */
	uint32_t linked;
	uint32_t idle_ms; /* and what was not used for so long is let go of */
	uint32_t last;	  /* of a RUN: no other will follow, as far as is known */
	struct protocol_limits limits;
	/* Of a RUN: a guest that ended well may hold its state, which is then called so, 1 to
	 * PROTOCOL_STATES_MAX; 0: none. The keeper then keeps what it was run in for others. */
	uint32_t state;
	uint32_t from; /* the state it starts from: the payload has what it reads, and its inputs */
	uint32_t tells;	     /* of a RUN: what it uses, as it goes on; not over a stream */
	int64_t input_bytes; /* of /in: ours, not counted against memory_bytes */
	int64_t artifact_bytes, artifacts; /* what a list of what was left may hold */
};

/* FIND: a path there; FOUND: where it really is and can be executed, or "". Of a path
 * below /proc/self/ns, which namespace that is. */
#define PROTOCOL_PATH_MAX 4096
struct protocol_find {
	uint32_t kind;
	char path[PROTOCOL_PATH_MAX];
};

struct protocol_busy {
	uint32_t kind;
};

/* Told every second or so, and not when the client does not listen. */
struct protocol_used {
	uint32_t kind;
	int64_t memory_bytes;
};

/* Descriptors that come with a RUN, in this order. */
enum protocol_run_fd {
	PROTOCOL_FD_PAYLOAD,
	PROTOCOL_FD_INPUTS,	 /* the mount that becomes /in; without one the payload once more */
	PROTOCOL_FD_ENVIRONMENT, /* the mount that becomes /env; the same */
	PROTOCOL_FD_STDIN,
	PROTOCOL_FD_STDOUT,
	PROTOCOL_FD_STDERR,
	PROTOCOL_PLAIN_FDS,			  /* a run that is not linked has no more */
	PROTOCOL_FD_LINK_IN = PROTOCOL_PLAIN_FDS, /* the guest's descriptor 3 */
	PROTOCOL_FD_LINK_OUT,			  /* and 4 */
	PROTOCOL_RUN_FDS,
	PROTOCOL_FD_AHEAD = PROTOCOL_FD_INPUTS,	  /* of such a PREPARE: PAYLOAD_AHEAD */
	PROTOCOL_FD_OBJECT = PROTOCOL_FD_LINK_IN, /* of a PREPARE that may fork: has no pipes yet */
	PROTOCOL_FORK_FDS,
};

#define OWN_FILES	    "assay_" /* what names of ours beside a program begin with */
#define PROTOCOL_STATES_MAX 32

/* How a run's interpreter came to be. */
enum protocol_start { PROTOCOL_COLD, PROTOCOL_WAITED, PROTOCOL_FORKED, PROTOCOL_COPIED };

struct protocol_forbidden {
	char syscall[32];
	char arch[16];
	uint64_t count;
	uint64_t args[6];
};

struct protocol_result {
	uint32_t kind;
	struct protocol_failure failure; /* set: the guest never ran */
	uint32_t reason;		 /* enum protocol_reason */
	uint32_t start;			 /* enum protocol_start */
	/* Why there is no template, though one was asked for. An empty step: there is. */
	struct protocol_failure no_template;
	uint32_t held;		  /* its state is kept */
	char why_not_held[64];	  /* words; "" when nobody asked, or the program did not end well */
	int64_t memory_now_bytes; /* of all that is kept, -1: unknown */
	uint32_t has_status;	  /* wait_status is the guest's own */
	int32_t wait_status;
	uint32_t disk_full;	 /* the tmpfs had no block or no inode left at some look */
	uint64_t oom_kills;	 /* of this run, by the kernel's counter */
	uint64_t pids_refused;	 /* forks refused at the limit: the kernel's counter, or ours */
	uint64_t memory_refused; /* shared mappings we refused at the limit */
	int64_t wall_us, user_us, system_us;
	int64_t peak_memory_bytes, peak_pids, written_bytes; /* -1: unknown */
	uint32_t forbidden_count;
	struct protocol_forbidden forbidden[PROTOCOL_FORBIDDEN_MAX];
};

/* Why something that was left is not in the list with its bytes. */
enum protocol_left_state {
	LEFT_KEPT,
	LEFT_KIND,   /* no regular file: its mode says what */
	LEFT_ERROR,  /* errnum */
	LEFT_COUNT,  /* over the limit of artifacts */
	LEFT_BYTES,  /* over that of their bytes */
	LEFT_DEPTH,  /* too many folders deep */
	LEFT_UNREAD, /* it ended before its size */
	LEFT_CUT,    /* no entry: there are more than were looked at */
	LEFT_STATES,
};

#define LEFT_DEPTH_MAX	 16
#define LEFT_ENTRIES_MAX 2000 /* looked at, folders included */

/* One entry of the list, followed by its path, without a NUL, and its bytes. */
struct protocol_left {
	uint32_t state, mode;
	int32_t errnum;
	uint32_t path_len;
	uint64_t size, bytes_len;
};

/*
 * The payload: a sealed memfd of records. Each record is this header, the
 * path (or string) with its NUL, the bytes, and padding to 8.
 */
enum payload_kind {
	PAYLOAD_END,
	PAYLOAD_EXEC,	     /* text: the interpreter's path in the sandbox */
	PAYLOAD_ARG,	     /* text: one element of argv, in order */
	PAYLOAD_ENV,	     /* text: "NAME=value" */
	PAYLOAD_INPUT,	     /* text: path below /in */
	PAYLOAD_WORK,	     /* text: path below /work */
	PAYLOAD_WAIT,	     /* text: name in /work of the program that is still to come; with
			      * bytes it is a file that cannot be opened till then, else a fifo */
	PAYLOAD_WARM,	     /* text: modules that a template imports besides the usual ones */
	PAYLOAD_AHEAD,	     /* text: names the code that a template runs, which comes as
			      * PROTOCOL_FD_AHEAD, and its bytes, after a space; of a job, before all
			      * files: its program ends with that */
	PAYLOAD_TREE,	     /* there is a mount that becomes /in; before all inputs */
	PAYLOAD_SHARED,	     /* text: path below /in of what is in that */
	PAYLOAD_ENVIRONMENT, /* there is a mount that becomes /env */
	PAYLOAD_LINK,	     /* text: path below /work of a link to what bytes name, NUL included */
};

struct payload_record {
	uint32_t kind;
	uint32_t text_len; /* without the NUL */
	uint64_t bytes_len;
};

#define PAYLOAD_ALIGN 8u

/*
 * What assay (share.c) and the keeper's program, started as its sharer (keeper/share.c),
 * say to each other: a list goes in, a reply with one mount comes out.
 */
#define SHARE_WORD	"share" /* argv[1] */
#define SHARE_SOCKET_FD 3	/* SOCK_SEQPACKET: the reply, with a mount for each place */
#define SHARE_LIST_FD	4	/* struct share_list, then the records */
#define SHARE_USERNS_FD 5	/* the keeper's: what is mounted must be its to mount */
#define SHARE_MAX	4096	/* records of one list */

struct share_list {
	uint32_t count;
	uint32_t guest_uid, guest_gid; /* whom a guest is, as this process sees it */
};

/* One input. Behind it name (below /in) and path (absolute, without links), each with
 * its NUL, and padding to PAYLOAD_ALIGN. */
struct share_record {
	uint64_t dev, ino; /* of what was opened: what is mounted must be that */
	uint32_t name_len, path_len;
	uint32_t folder;
	uint32_t place;		    /* enum share_place */
	uint32_t cfg_len, link_len; /* behind path, each with its NUL: of struct own_folder */
};

enum share_place {
	SHARE_INPUT,	   /* below /in */
	SHARE_ENVIRONMENT, /* below /env; what is there may be executed */
};

enum share_way {
	SHARE_NOT,    /* not to be had: errnums says why */
	SHARE_MOUNT,  /* seen where it is */
	SHARE_MAPPED, /* the same, with its owner's right to read it */
};

#define SHARE_PLACES 2

struct share_reply {
	struct protocol_failure failure; /* set: there is no mount */
	int32_t errnums[SHARE_MAX];
	uint8_t ways[SHARE_MAX];
};

#define PROTOCOL_FDS_MAX (PROTOCOL_RUN_FDS + 1) /* of any message */

#endif
