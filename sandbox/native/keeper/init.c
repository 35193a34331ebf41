/*
 * Pid 1 of a run: makes its private mounts, waits for the job, lays out the
 * files, gives up every capability, starts the guest and reaps. When the guest
 * ends it says so and exits, and the kernel kills whatever is left of the run.
 * A guest may also be started first and wait, or be a template's fork that enters
 * here: of the job it has nothing then, and none of it reaches the guest before
 * all other steps are done.
 *
 * A flat list of named steps; the name of the one that failed travels to the
 * keeper in one message.
 */
#include "sandbox/native/keeper/context.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKED_PID 2 /* as any guest's */
#define PAUSE_NS   100000
#define PATH_ROOM  300
#define PIPE_BYTES 65536 /* that a pipe takes unasked */
#define PROC_FLAGS (MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY)
#define REMEDY_PROC                                                                    \
	"a fresh /proc is refused because the host's is partly masked: in Docker add " \
	"`--security-opt systempaths=unconfined` (Podman: `--security-opt unmask=ALL`)"

struct init {
	const struct standby *standby;
	struct launch launch;
	int fds[GO_FDS];
	int keeper;
	int oom;		  /* our oom_score_adj; -1: not to be had */
	int started[STARTED_FDS]; /* for the keeper */
	int whole_proc;		  /* its mount: to let go of one waits for the other processors */
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

/* The launcher shares our memory, and so the score: to change it, the kernel looks through all
 * processes of the host. */
static void set_oom_score(const struct init *i, const char *score, char ret_before[16])
{
	memset(ret_before, 0, 16);
	if (i->oom >= 0 && pread(i->oom, ret_before, 15, 0) > 0 && atoi(ret_before) != atoi(score))
		(void)!pwrite(i->oom, score, strlen(score), 0);
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

int init_mount_disk(const char *options, int *ret_root)
{
	static const struct {
		const char *from, *to;
	} folders[] = {
		{ "/tmp/work", "/work" },
		{ "/tmp/out", "/out" },
		{ "/tmp/shm", "/dev/shm" },
		{ "/tmp/tmp", "/tmp" },
	};

	if (mount("disk", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
		return -1;
	/* For what is left in /out and /work. */
	*ret_root = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	for (size_t n = 0; n < sizeof(folders) / sizeof(folders[0]); n++)
		if (mkdir(folders[n].from, 0755) < 0 ||
		    mount(folders[n].from, folders[n].to, NULL, MS_BIND, NULL) < 0)
			return -1;
	return 0;
}

static int mount_disk(const struct standby *standby, int *ret_root)
{
	char options[128];

	disk_options(standby->disk_bytes, standby->inodes, options, sizeof(options));
	return init_mount_disk(options, ret_root);
}

static int resize_disk(const struct standby *had, const struct protocol_limits *want)
{
	if (had->disk_bytes == want->disk_bytes && had->inodes == want->inodes)
		return 0;
	char options[128];
	disk_options(want->disk_bytes, want->inodes, options, sizeof(options));
	return mount(NULL, "/work", NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, options);
}

/*
 * A /proc for the keeper alone: with hidepid it would not see init, nor a guest
 * that runs a program it may not read (its memory then belongs to a user
 * namespace the keeper has no power over). Before 5.8 there is one for all.
 */
static int open_whole_proc(int *ret_mount)
{
	int context = (int)syscall(SYS_fsopen, "proc", FSOPEN_CLOEXEC), mount = -1;

	if (context >= 0 &&
	    syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, "subset", "pid", 0) == 0 &&
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC,
				     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC |
					     MOUNT_ATTR_RDONLY);
	int fd = mount < 0 ? open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) :
			     openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close_all(&context, 1);
	*ret_mount = mount;
	return fd;
}

static int open_directories(struct init *i)
{
	i->started[STARTED_PROC] = open_whole_proc(&i->whole_proc);
	i->started[STARTED_MOUNTS] = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	for (size_t n = 0; n < STARTED_FDS; n++)
		if (i->started[n] < 0)
			return -1;
	return 0;
}

/* The guest's socket to us are its descriptors 3 and 4, as the ends of a linked one. */
static void prepare_context(struct init *i, struct context_start *ret)
{
	*ret = (struct context_start){ .keeper = i->keeper };
	if (context_prepare(ret, i->started[STARTED_OUT], &i->launch.limits) < 0)
		fail(i, "what a context needs", "");
	i->fds[PROTOCOL_FD_LINK_IN] = ret->peer;
	i->fds[PROTOCOL_FD_LINK_OUT] = fcntl(ret->peer, F_DUPFD_CLOEXEC, 0);
	if (i->fds[PROTOCOL_FD_LINK_OUT] < 0)
		fail(i, "a socket of a context", "");
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
	/* That of the launcher's which a template needs, and nobody else. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		fail(i, "init: ambient capabilities", "");
	i->oom = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	if (mount_proc() < 0)
		fail(i, "proc", REMEDY_PROC);
	if (mount_disk(i->standby, &i->started[STARTED_OUT]) < 0)
		fail(i, "tmpfs", "");
	if (open_directories(i) < 0)
		fail(i, "open /out", "");
}

static void receive(struct init *i)
{
	if (message_receive(i->keeper, &i->launch, sizeof(i->launch), i->fds, GO_FDS) !=
	    sizeof(i->launch))
		_exit(0); /* the keeper is gone */
}

/* Twice for one that waits, the second time with the files. */
static void lay_out(struct init *i, const struct payload *forked, struct program *ret_program)
{
	if (resize_disk(i->standby, &i->launch.limits) < 0)
		fail(i, "size of the disk", "");
	const char *step;
	if (payload_unpack(i->fds, forked, &i->payload, ret_program, &step) < 0)
		fail(i, step, "");
}

/* Now /proc/1 belongs to nobody the guest can be. */
static void hide(const struct init *i)
{
	if (prctl(PR_SET_DUMPABLE, 0) < 0)
		fail(i, "not dumpable", "");
}

static void give_up_power(const struct init *i)
{
	if (confine_drop_capabilities() < 0)
		fail(i, "drop capabilities", "");
	hide(i);
}

/* The keeper has them. */
static void let_go_of_started(struct init *i)
{
	close_all(i->started, STARTED_FDS);
	close_all(&i->whole_proc, 1);
}

/* The guest's first steps run in our memory while we wait (vfork): a fork of
 * even this small process costs more than all of them. It inherits the highest score, so that
 * the kernel's choice is never us; we take ours back once it runs. */
static pid_t start_guest(struct init *i)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct event started = { .kind = i->launch.waits ? EVENT_WAITING : EVENT_STARTED };

	i->guest = (struct guest){ .launch = &i->launch,
				   .program = &i->program,
				   .keeper = i->keeper,
				   .started_fd = PROTOCOL_STARTED_FD,
				   .waits = i->launch.waits };
	memcpy(i->guest.fds, i->fds, sizeof(i->guest.fds));
	char own_score[16];
	set_oom_score(i, "1000", own_score);
	pid_t pid = clone(guest_main, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			  &i->guest);
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
	let_go_of_started(i);
	char raised[16];
	set_oom_score(i, own_score, raised);
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

/* --- a guest that waits --- */

/* The writing end of its program, which is there when the guest is about to read: it may
 * be starting still, or be no more. */
static int open_program(const struct init *i, const char *path, pid_t guest)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int fd;

	while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW)) < 0 &&
	       errno == ENXIO) {
		if (waitpid(guest, NULL, WNOHANG) != 0)
			fail(i, "the interpreter that waited is gone", "");
		nanosleep(&pause, NULL);
	}
	if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0)
		fail(i, "open the program", "");
	return fd;
}

/* The keeper starts anew, elsewhere, when not a byte went in. A guest that does not
 * want all of it has its reasons. What it is given runs when the end is seen: by then
 * the keeper has been told, and will never run it again. */
static void feed(const struct init *i, int fd, const char *bytes, size_t len)
{
	struct event started = { .kind = EVENT_STARTED, .at_us = now_us() };

	if (len > PIPE_BYTES && fcntl(fd, F_SETPIPE_SZ, (int)len) < (int)len)
		fail(i, "room for the program", "");
	(void)!write(PROTOCOL_STARTED_FD, &(uint64_t){ 1 }, sizeof(uint64_t));
	size_t done = 0;
	ssize_t n;
	while (done < len && (n = write(fd, bytes + done, len - done)) > 0)
		done += (size_t)n;
	if (done == 0 && len > 0)
		fail(i, "the interpreter that waited is gone", "");
	if (send_event(i, &started, NULL, 0) < 0)
		_exit(1);
	close(fd);
}

/* Its program is a fifo that opens for it when all else is as for any guest; by then the
 * file of that name is the program itself. */
static pid_t run_waiting(struct init *i)
{
	struct program program = { .path = NULL };

	hide(i);
	pid_t guest = start_guest(i);
	struct payload made = i->payload;
	const char *name = payload_waits_for(&made);
	char path[PATH_ROOM];
	snprintf(path, sizeof(path), "/work/%s", name);
	receive(i);
	int fd = open_program(i, path, guest);
	if (unlink(path) < 0)
		fail(i, "put the program in its place", "");
	lay_out(i, NULL, &program);
	const char *bytes;
	size_t len;
	if (!payload_same_program(&i->program, &program) ||
	    payload_find_work(&i->payload, name, &bytes, &len) < 0)
		fail(i, "what waited is for another job", "");
	give_up_power(i);
	feed(i, fd, bytes, len);
	payload_unmap(&made);
	return guest;
}

/* Its program is a file that opens for it when all is as for any guest. What held it longer than
 * the kernel lets it be held has opened it already: empty. */
static pid_t run_held(struct init *i)
{
	struct program program = { .path = NULL };
	const int64_t until = now_us() + i->launch.lease_ms * 1000ll;
	struct event started = { .kind = EVENT_STARTED };

	hide(i);
	pid_t guest = start_guest(i);
	struct payload made = i->payload;
	receive(i);
	if (now_us() >= until || waitpid(guest, NULL, WNOHANG) != 0)
		fail(i, "the interpreter that waited is gone", "");
	lay_out(i, NULL, &program);
	if (!payload_same_program(&i->program, &program))
		fail(i, "what waited is for another job", "");
	give_up_power(i);
	started.at_us = now_us();
	(void)!write(PROTOCOL_STARTED_FD, &(uint64_t){ 1 }, sizeof(uint64_t));
	if (send_event(i, &started, NULL, 0) < 0 || payload_release() < 0)
		_exit(1);
	payload_unmap(&made);
	return guest;
}

/* Its walls stand. A moment after it has this it is the program: what it answers may never be
 * read, as the keeper knows. */
static void let_go(const struct init *i)
{
	int go = i->fds[GO_FD];
	const int fds[PROTOCOL_RUN_FDS] = {
		[PROTOCOL_FD_PAYLOAD] = PROTOCOL_STARTED_FD,
		[PROTOCOL_FD_INPUTS] = PROTOCOL_STARTED_FD, /* there are none to mount */
		[PROTOCOL_FD_ENVIRONMENT] = PROTOCOL_STARTED_FD,
		[PROTOCOL_FD_STDIN] = i->fds[PROTOCOL_FD_STDIN],
		[PROTOCOL_FD_STDOUT] = i->fds[PROTOCOL_FD_STDOUT],
		[PROTOCOL_FD_STDERR] = i->fds[PROTOCOL_FD_STDERR],
		[PROTOCOL_FD_LINK_IN] = i->fds[GO_LINK_IN],
		[PROTOCOL_FD_LINK_OUT] = i->fds[GO_LINK_OUT],
	};
	const size_t count = i->fds[GO_LINK_OUT] < 0 ? PROTOCOL_PLAIN_FDS : PROTOCOL_RUN_FDS;
	struct event event;

	if (go < 0 || message_send(go, &i->launch, sizeof(i->launch), fds, count) < 0 ||
	    message_receive(go, &event, sizeof(event), NULL, 0) != sizeof(event))
		fail(i, "the interpreter that waited is gone", "");
	if (send_event(i, &event, NULL, 0) < 0 || event.kind != EVENT_STARTED)
		_exit(1);
	close(go);
}

/* Who enters must see whom it enters, so that only then this one hides. No guest runs before. */
static pid_t run_forked(struct init *i)
{
	const struct event waiting = { .kind = EVENT_WAITING, .at_us = now_us() };
	struct program program = { .path = NULL };

	if (send_event(i, &waiting, i->started, STARTED_FDS) < 0)
		_exit(1);
	let_go_of_started(i);
	struct payload made = i->payload;
	const char *name = payload_waits_for(&made);
	receive(i);
	char path[PATH_ROOM];
	snprintf(path, sizeof(path), "/work/%s", !name ? "" : name);
	if (unlink(path) < 0)
		fail(i, "put the program in its place", "");
	lay_out(i, &made, &program);
	if (!payload_same_program(&i->program, &program))
		fail(i, "what waited is for another job", "");
	give_up_power(i);
	let_go(i);
	payload_unmap(&made);
	return FORKED_PID;
}

void init_main(const struct standby *standby, int keeper)
{
	static struct init i;
	static struct context_start context;

	i = (struct init){ .standby = standby, .keeper = keeper, .oom = -1, .whole_proc = -1 };
	payload_begin();
	prepare(&i);
	receive(&i);
	lay_out(&i, NULL, &i.program);
	pid_t guest;
	if (i.launch.forks) {
		guest = run_forked(&i);
	} else if (payload_holds()) {
		guest = run_held(&i);
	} else if (payload_waits_for(&i.payload)) {
		guest = run_waiting(&i);
	} else {
		if (i.launch.holds)
			prepare_context(&i, &context);
		give_up_power(&i);
		guest = start_guest(&i);
	}
	if (i.launch.holds) {
		close_all(i.fds, PROTOCOL_RUN_FDS);
		context.payload = i.payload;
		context_serve(&context, guest);
	}
	payload_unmap(&i.payload);
	reap_until(&i, guest);
}
