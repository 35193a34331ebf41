/*
 * The init of a context, which outlives its guests, and in which each guest that starts from a
 * state is a copy of the holder of that. Theory of operation: README.md. It has no capability, and
 * trusts nothing that a guest says but that it holds: who is who comes from the kernel, by whose
 * message it was and whose child ended.
 */
#include "sandbox/native/keeper/context.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COPY_MS	 5000 /* a holder that takes longer is none */
#define PAUSE_NS 20000
#define STORES	 4 /* times the disk of a guest, for the files of all states */

struct held {
	pid_t pid; /* 0: none */
	int control;
};

static struct {
	struct context_start start;
	struct held slots[SLOTS];
	struct held guest; /* that runs, or holds and is in no slot yet */
	int child;	   /* signalfd of SIGCHLD */
	int live;	   /* the slot whose files are where guests see them; -1: others */
	int from;	   /* the slot that the guest was copied from; -1: none */
	struct payload payload;
} context;

/* --- while init may mount --- */

static int make_store(const struct protocol_limits *limits)
{
	int fs = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
	char size[32];

	snprintf(size, sizeof(size), "%lld", (long long)limits->disk_bytes * STORES);
	char inodes[32];
	snprintf(inodes, sizeof(inodes), "%lld", (long long)limits->inodes * STORES);
	int mount = -1;
	if (fs >= 0 && syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "size", size, 0) == 0 &&
	    syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "nr_inodes", inodes, 0) == 0 &&
	    syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, "mode", "0700", 0) == 0 &&
	    syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		mount = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
				     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	int fd = -1;
	if (mount >= 0)
		fd = openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close_all((int[]){ fs, mount }, 2);
	return fd;
}

/* The same /in by a mount of our own, which is not only read. */
static int open_in(void)
{
	struct mount_attr attr = { .attr_clr = MOUNT_ATTR_RDONLY };
	struct stat in, root;

	if (stat("/in", &in) < 0 || stat("/", &root) < 0)
		return -1;
	if (in.st_dev == root.st_dev &&
	    (mount("in", "/in", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0 ||
	     mount(NULL, "/in", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV,
		   NULL) < 0))
		return -1;
	int tree =
		(int)syscall(SYS_open_tree, AT_FDCWD, "/in", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	int fd = -1;
	if (tree >= 0 &&
	    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof(attr)) == 0)
		fd = openat(tree, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close_all(&tree, 1);
	return fd;
}

static int make_control(int *ret_ours, int *ret_theirs)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	/* So that each message says whose it is. */
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)) < 0) {
		close_all(pair, 2);
		return -1;
	}
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return 0;
}

int context_prepare(struct context_start *c, int disk, const struct protocol_limits *limits)
{
	c->disk = fcntl(disk, F_DUPFD_CLOEXEC, 0);
	c->store = make_store(limits);
	c->in = open_in();
	if (make_control(&c->control, &c->peer) < 0)
		return -1;
	return c->disk < 0 || c->store < 0 || c->in < 0 ? -1 : 0;
}

/* --- what is said --- */

static void tell(const struct event *event)
{
	if (message_send(context.start.keeper, event, sizeof(*event), NULL, 0) < 0)
		_exit(1);
}

static void tell_failed(const char *step)
{
	struct event event = { .kind = EVENT_FAILED };

	failure_set(&event.failure, step, "");
	tell(&event);
}

/* Of a guest or a holder: what it says, and who it was. False: it has ended, or talks nonsense. */
static bool receive_from(int fd, struct event *ret, pid_t *ret_pid)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec io = { .iov_base = ret, .iov_len = sizeof(*ret) };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	struct ucred who = { .pid = 0 };

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return receive_from(fd, ret, ret_pid);
	for (struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		int passed;

		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_CREDENTIALS)
			memcpy(&who, CMSG_DATA(c), sizeof(who));
		for (size_t i = 0;
		     c->cmsg_type == SCM_RIGHTS && CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len;
		     i++) {
			memcpy(&passed, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			close(passed);
		}
	}
	*ret_pid = who.pid;
	return n == sizeof(*ret) && !(msg.msg_flags & MSG_TRUNC) && who.pid > 1;
}

static bool answers(int fd, uint32_t kind, struct event *ret, pid_t *ret_pid)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&ready, 1, COPY_MS);
	while (n < 0 && errno == EINTR);
	return n > 0 && receive_from(fd, ret, ret_pid) && ret->kind == kind;
}

/* --- states --- */

static void forget(struct held *h)
{
	if (h->pid == 0)
		return;
	kill(h->pid, SIGKILL); /* ours to reap: the number is its own till then */
	close_all(&h->control, 1);
	*h = (struct held){ .control = -1 };
}

static void drop(uint32_t slot)
{
	if (slot >= SLOTS) {
		forget(&context.guest);
		return;
	}
	forget(&context.slots[slot]);
	snapshot_drop(context.start.store, (int)slot);
	if (context.live == (int)slot)
		context.live = -1;
}

/* Ours to wait for: so the kernel tells of each time that it is stopped, or goes on. False when it
 * did not stop. */
static bool await_stop(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	const int64_t until = now_us() + COPY_MS * 1000ll;

	do {
		siginfo_t info = { .si_pid = 0 };

		if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG) < 0 && errno != EINTR)
			return false;
		if (info.si_pid == pid)
			return true;
		nanosleep(&pause, NULL);
	} while (now_us() < until);
	return false;
}

/* Stopped first: from here on it is what it was when it said so. */
static void keep(uint32_t slot)
{
	if (slot >= SLOTS || context.guest.pid == 0)
		return;
	kill(context.guest.pid, SIGSTOP);
	drop(slot);
	context.slots[slot] = context.guest;
	context.guest = (struct held){ .control = -1 };
	if (!await_stop(context.slots[slot].pid) ||
	    snapshot_take(context.start.disk, context.start.store, (int)slot, context.from) < 0)
		drop(slot);
	else
		context.live = (int)slot;
	context.from = (int)slot;
}

/* --- a copy --- */

static int make_text(const char *bytes, size_t len)
{
	int fd = memfd_create("program", MFD_CLOEXEC);

	while (fd >= 0 && len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0) {
			close_all(&fd, 1);
			break;
		}
		bytes += n;
		len -= (size_t)n;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static int lay_out(uint32_t slot, int payload, int *ret_text)
{
	const struct context_start *s = &context.start;
	struct payload next = { .map = NULL };
	const char *bytes;
	size_t len;

	if (payload_read_resume(payload, &next, &bytes, &len) < 0)
		return -1;
	if (context.live != (int)slot && snapshot_restore(s->disk, s->store, (int)slot) < 0) {
		payload_unmap(&next);
		return -1;
	}
	context.live = -1; /* whatever comes of it */
	payload_take_inputs(&context.payload, s->in);
	payload_unmap(&context.payload);
	context.payload = next;
	if (payload_lay_inputs(&context.payload, s->in) < 0)
		return -1;
	*ret_text = make_text(bytes, len);
	return *ret_text < 0 ? -1 : 0;
}

/* The holder answers when it has let go of the guest's streams: only then is it stopped again. */
static int ask_for_copy(const struct held *holder, const int *fds, int text, struct held *ret)
{
	const struct hold_order order = { .kind = 1 };
	int ours, theirs;

	if (make_control(&ours, &theirs) < 0)
		return -1;
	kill(holder->pid, SIGCONT);
	int status = message_send(holder->control, &order, sizeof(order),
				  (int[]){ text, fds[CONTEXT_STDIN], fds[CONTEXT_STDOUT],
					   fds[CONTEXT_STDERR], theirs },
				  HOLD_FDS);
	close_all(&theirs, 1);
	struct event event;
	pid_t who;
	if (status < 0 || !answers(holder->control, EVENT_READY, &event, &who) ||
	    who != holder->pid || event.pid < 2) {
		close_all(&ours, 1);
		return -1;
	}
	kill(holder->pid, SIGSTOP);
	if (!await_stop(holder->pid) || !answers(ours, EVENT_BORN, &event, &who) ||
	    who == holder->pid) {
		close_all(&ours, 1);
		return -1;
	}
	*ret = (struct held){ .pid = who, .control = ours };
	return 0;
}

/* Where that fails the state is no more; the keeper's client then makes it again elsewhere. */
static void fork_from(uint32_t slot, const int *fds)
{
	const struct event started = { .kind = EVENT_STARTED, .at_us = now_us() };

	if (slot >= SLOTS || context.slots[slot].pid == 0) {
		tell_failed("the state is not kept any more");
		return;
	}
	int text = -1;
	if (lay_out(slot, fds[CONTEXT_PAYLOAD], &text) < 0) {
		tell_failed("lay out the files of the state");
		return;
	}
	(void)!write(PROTOCOL_STARTED_FD, &(uint64_t){ 1 }, sizeof(uint64_t));
	int status = ask_for_copy(&context.slots[slot], fds, text, &context.guest);
	close_all(&text, 1);
	context.from = (int)slot;
	if (status < 0) {
		drop(slot);
		tell_failed("copy the state");
	} else {
		tell(&started);
	}
}

/* --- the loop --- */

static bool is_held(pid_t pid)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (context.slots[i].pid == pid)
			return true;
	return false;
}

static void bury(pid_t pid)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (context.slots[i].pid == pid)
			drop((uint32_t)i);
}

/* A context that has no state, and whose guest has ended, is over. */
static void end_guest(int status)
{
	const struct event done = { .kind = EVENT_DONE, .status = status, .at_us = now_us() };

	close_all(&context.guest.control, 1);
	context.guest = (struct held){ .control = -1 };
	bool any = false;
	for (size_t i = 0; i < SLOTS; i++)
		any = any || context.slots[i].pid != 0;
	tell(&done);
	if (!any)
		_exit(0);
}

/* That it holds, or why it does not; nothing else is of interest, and nobody else may say it. */
static void hear_guest(void)
{
	struct event event, held = { .kind = EVENT_HELD, .at_us = now_us() };
	pid_t who;

	if (!receive_from(context.guest.control, &event, &who) || who != context.guest.pid ||
	    (event.kind != EVENT_HELD && event.kind != EVENT_FAILED)) {
		close_all(&context.guest.control, 1);
		return;
	}
	held.pid = who;
	if (event.kind == EVENT_FAILED) {
		held.pid = 0;
		held.failure = event.failure;
		held.failure.step[sizeof(held.failure.step) - 1] = '\0';
		held.failure.remedy[0] = '\0';
	}
	tell(&held);
}

static bool is_readable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&ready, 1, 0) > 0;
}

/* What holds a state can have itself woken, as by a timer of its own. Nobody knows what it did to
 * the files that others have: then all of it is over. */
static void end_if_woken(void)
{
	for (size_t i = 0; i < SLOTS; i++) {
		siginfo_t info = { .si_pid = 0 };
		pid_t pid = context.slots[i].pid;

		if (pid != 0 &&
		    waitid(P_PID, (id_t)pid, &info, WSTOPPED | WCONTINUED | WNOHANG) == 0 &&
		    info.si_pid == pid)
			_exit(1);
	}
}

static void reap(void)
{
	struct signalfd_siginfo info;

	(void)!read(context.child, &info, sizeof(info));
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == context.guest.pid && is_readable(context.guest.control))
			hear_guest(); /* what it said before */
		if (pid == context.guest.pid)
			end_guest(status);
		else if (is_held(pid))
			bury(pid);
	}
	if (pid < 0 && errno != EINTR && errno != ECHILD)
		_exit(1);
	end_if_woken();
}

static void obey(void)
{
	struct context_order order;
	int fds[CONTEXT_FDS];

	if (message_receive(context.start.keeper, &order, sizeof(order), fds, CONTEXT_FDS) !=
	    sizeof(order))
		_exit(0); /* the keeper is gone */
	switch ((enum context_kind)order.kind) {
	case CONTEXT_FORK:
		fork_from(order.slot, fds);
		break;
	case CONTEXT_KEEP:
		keep(order.slot);
		break;
	case CONTEXT_DROP:
		drop(order.slot);
		break;
	}
	close_all(fds, CONTEXT_FDS);
}

void context_serve(const struct context_start *start, pid_t guest)
{
	context.start = *start;
	context.payload = start->payload;
	context.guest = (struct held){ .pid = guest, .control = start->control };
	context.live = context.from = -1;
	for (size_t i = 0; i < SLOTS; i++)
		context.slots[i].control = -1;
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	context.child = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (context.child < 0)
		_exit(1);
	for (;;) {
		struct pollfd fds[] = { { .fd = context.start.keeper, .events = POLLIN },
					{ .fd = context.child, .events = POLLIN },
					{ .fd = context.guest.control, .events = POLLIN } };

		reap(); /* who ended before the signal was ours to see, too */
		fds[2].fd = context.guest.control;
		if (poll(fds, 3, -1) < 0)
			continue;
		if (fds[2].revents != 0 && context.guest.control == fds[2].fd)
			hear_guest();
		if (fds[0].revents != 0)
			obey();
	}
}
