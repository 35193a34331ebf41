/*
 * Pid 1 of a run: makes its private mounts, waits for the job, lays out the
 * files, gives up every capability, starts the guest and reaps. When the guest
 * ends it says so and exits, and the kernel kills whatever is left of the run.
 *
 * A flat list of named steps; the name of the one that failed travels to the
 * keeper in one message.
 */
#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROC_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
#define REMEDY_PROC                                                                    \
	"a fresh /proc is refused because the host's is partly masked: in Docker add " \
	"`--security-opt systempaths=unconfined` (Podman: `--security-opt unmask=ALL`)"

struct init {
	const struct standby *standby;
	struct launch launch;
	int fds[PROTOCOL_RUN_FDS];
	int keeper;
	int oom;		  /* our oom_score_adj; -1: not to be had */
	int started[STARTED_FDS]; /* for the keeper */
	struct payload payload;
	struct program program;
	struct guest guest;
};

static int send_event(const struct init *i, const struct event *event, const int *fds, size_t nfds)
{
	return message_send(i->keeper, event, sizeof(*event), fds, nfds);
}

static void fail(const struct init *i, const char *step, const char *remedy)
	__attribute__((noreturn));
static void fail(const struct init *i, const char *step, const char *remedy)
{
	struct event event = { .kind = EVENT_FAILED };

	failure_set(&event.failure, step, remedy);
	send_event(i, &event, NULL, 0);
	_exit(1);
}

/* We die with the keeper, even if it died before we could ask for that. */
static int tie_to_keeper(const struct init *i)
{
	struct pollfd life = { .fd = i->keeper };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -1;
	if (poll(&life, 1, 0) > 0 && (life.revents & POLLHUP))
		_exit(1);
	return 0;
}

/* The guest inherits the highest score, so that the kernel's choice is never
 * us; we take ours back once it runs. */
static void prefer_guest_for_oom(struct init *i)
{
	i->oom = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (i->oom >= 0 && write(i->oom, "1000", 4) < 0) {
		close(i->oom);
		i->oom = -1;
	}
}

/* Files of the kernel at large, where subset=pid is not to be had (< 5.8). */
static int mask_proc(void)
{
	static const char *const files[] = { "kcore",	      "keys",	     "key-users",
					     "kallsyms",      "sched_debug", "timer_list",
					     "sysrq-trigger", "config.gz" };

	for (size_t n = 0; n < sizeof(files) / sizeof(files[0]); n++) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%s", files[n]);
		if (mount("/dev/null", path, NULL, MS_BIND, NULL) < 0 && errno != ENOENT)
			return -1;
	}
	return 0;
}

static int mount_proc(void)
{
	if (mount("proc", "/proc", "proc", PROC_FLAGS, "subset=pid,hidepid=invisible") == 0)
		return 0;
	if (errno != EINVAL)
		return -1;
	if (mount("proc", "/proc", "proc", PROC_FLAGS, "hidepid=2") < 0)
		return -1;
	return mask_proc();
}

static void disk_options(int64_t bytes, int64_t inodes, char *ret, size_t size)
{
	snprintf(ret, size, "size=%lld,nr_inodes=%lld,mode=0755", (long long)bytes,
		 (long long)inodes + 5); /* the root and four folders */
}

/* One tmpfs for all a guest may write, so that one limit holds for all. */
static int mount_disk(const struct standby *standby, int *ret_root)
{
	static const struct {
		const char *from, *to;
	} folders[] = {
		{ "/tmp/work", "/work" },
		{ "/tmp/out", "/out" },
		{ "/tmp/shm", "/dev/shm" },
		{ "/tmp/tmp", "/tmp" },
	};
	char options[128];

	disk_options(standby->disk_bytes, standby->inodes, options, sizeof(options));
	if (mount("disk", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return -1;
	/* The whole of it, which no guest sees: for what is left in /out and /work. */
	*ret_root = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	for (size_t n = 0; n < sizeof(folders) / sizeof(folders[0]); n++)
		if (mkdir(folders[n].from, 0755) < 0 ||
		    mount(folders[n].from, folders[n].to, NULL, MS_BIND, NULL) < 0)
			return -1;
	return 0;
}

static int resize_disk(const struct standby *had, const struct protocol_limits *want)
{
	char options[128];

	if (had->disk_bytes == want->disk_bytes && had->inodes == want->inodes)
		return 0;
	disk_options(want->disk_bytes, want->inodes, options, sizeof(options));
	return mount(NULL, "/work", NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, options);
}

/*
 * A /proc for the keeper alone: with hidepid it would not see init, nor a guest
 * that runs a program it may not read (its memory then belongs to a user
 * namespace the keeper has no power over). Before 5.8 there is one for all.
 */
static int open_whole_proc(void)
{
	int context = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC), mount = -1, fd;

	if (context >= 0 &&
	    syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "subset", "pid", 0) == 0 &&
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
				     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
					     MOUNT_ATTR_RDONLY);
	fd = mount < 0 ? open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) :
			 openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close_all((int[]){ context, mount }, 2);
	return fd;
}

static int open_directories(struct init *i)
{
	i->started[STARTED_PROC] = open_whole_proc();
	i->started[STARTED_MOUNTS] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	for (size_t n = 0; n < STARTED_FDS; n++)
		if (i->started[n] < 0)
			return -1;
	return 0;
}

/* What needs no job yet. */
static void prepare(struct init *i)
{
	if (tie_to_keeper(i) < 0)
		fail(i, "init: death signal", "");
	/* The init before us took this from the memory we share; with it go our
	 * own /proc files. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		fail(i, "init: dumpable", "");
	prefer_guest_for_oom(i);
	if (mount_proc() < 0)
		fail(i, "proc", REMEDY_PROC);
	if (mount_disk(i->standby, &i->started[STARTED_OUT]) < 0)
		fail(i, "tmpfs", "");
	if (open_directories(i) < 0)
		fail(i, "open /out", "");
}

static void take_job(struct init *i)
{
	const char *step;

	if (message_receive(i->keeper, &i->launch, sizeof(i->launch), i->fds, PROTOCOL_RUN_FDS) !=
	    sizeof(i->launch))
		_exit(0); /* the keeper is gone */
	if (resize_disk(i->standby, &i->launch.limits) < 0)
		fail(i, "size of the disk", "");
	if (payload_unpack(i->fds[PROTOCOL_FD_PAYLOAD], &i->payload, &i->program, &step) < 0)
		fail(i, step, "");
	if (confine_drop_capabilities() < 0)
		fail(i, "drop capabilities", "");
	/* Now /proc/1 belongs to nobody the guest can be. */
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		fail(i, "not dumpable", "");
}

/* The guest's first steps run in our memory while we wait (vfork): a fork of
 * even this small process costs more than all of them. */
static pid_t start_guest(struct init *i)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct event started = { .kind = EVENT_STARTED };
	pid_t pid;

	i->guest = (struct guest){ .launch = &i->launch,
				   .program = &i->program,
				   .keeper = i->keeper,
				   .started_fd = PROTOCOL_STARTED_FD };
	memcpy(i->guest.fds, i->fds, sizeof(i->fds));
	pid = clone(guest_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &i->guest);
	if (pid < 0)
		fail(i, "start the guest", "");
	if (i->guest.failure.step[0] != '\0' || !i->guest.started) {
		struct event event = { .kind = EVENT_FAILED, .failure = i->guest.failure };

		if (event.failure.step[0] == '\0')
			failure_set(&event.failure, "confine the guest", "");
		send_event(i, &event, NULL, 0);
		_exit(1);
	}
	started.at_us = i->guest.started_us;
	if (send_event(i, &started, i->started, STARTED_FDS) < 0)
		_exit(1);
	close_all(i->started, STARTED_FDS);
	payload_unmap(&i->payload);
	if (i->oom >= 0)
		(void)!write(i->oom, "0", 1);
	return pid;
}

static void reap_until(const struct init *i, pid_t guest) __attribute__((noreturn));
static void reap_until(const struct init *i, pid_t guest)
{
	struct event done = { .kind = EVENT_DONE };
	int status;

	for (;;) {
		pid_t pid = wait4(-1, &status, 0, NULL);

		if (pid == guest)
			break;
		if (pid < 0 && errno != EINTR)
			_exit(1);
	}
	done.status = status;
	done.at_us = now_us();
	send_event(i, &done, NULL, 0);
	_exit(0);
}

void init_main(const struct standby *standby, int keeper)
{
	static struct init i;

	i = (struct init){ .standby = standby, .keeper = keeper, .oom = -1 };
	prepare(&i);
	take_job(&i);
	reap_until(&i, start_guest(&i));
}
