/*
 * The templates of interpreters, as the keeper has them: one of the usual modules, and a few of
 * sets of packages; each ordered of the launcher, and given up for good with the first thing that
 * is not as it should be: then interpreters start as ever. None comes near a guest: it is in no
 * pid, mount or ipc namespace of a run (the others are the launcher's), has no descriptor of one,
 * and is told nothing of any job.
 *
 * Their memory lies in the run's groups, whose limit is larger by just that while they live; what a
 * fork writes to is a copy of its own, and counts. One with packages is stopped while a run lasts,
 * so that it takes nothing of the run's time and what it holds is known.
 */
#include "sandbox/native/keeper/template.h"

#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEMPLATES_MAX 4
#define START_MS      3000 /* that anybody waits; less than the client gives us beyond a run */
#define START_MAX_US  60000000ll
#define KEPT_US	      10000000ll /* that one stays, whatever else is asked for */
#define FORK_MS	      2000
/* The most that one may take while it starts, and so the limit of its modules: the usual ones, or
 * a set of packages. */
#define START_BYTES	(64ll << 20)
#define START_SET_BYTES (160ll << 20)
#define DEATHS_MAX	3	      /* between two forks */
#define ROUND_BYTES	(256ll << 10) /* up, for its page tables */
/* To sum up its pages takes the kernel longer than most that is to be done for a fork. It runs
 * nothing but what makes one, so what it holds changes by its first, if at all. */
#define MEASURED_FIRST 4
#define MEASURED_EVERY 32

/* One for each set of modules and each way to start a program. What it was started as stays known
 * when it is gone, as does why it is none. */
struct source {
	struct payload payload; /* no map: a free place */
	struct program program; /* it is started as this, and has this; in the payload */
	struct payload_warm warm;
	bool ordered; /* and not let go of since; what follows is whole then */
	bool ready;
	bool rehearses; /* all but ready: a child of its own may be there for a moment */
	bool stopped;
	int orders; /* socket to it */
	int pidfd;  /* -1 until the launcher has told */
	int64_t bytes, ordered_us;
	int64_t used_us; /* when it was last asked for */
	unsigned forks;	 /* so far */
	unsigned deaths; /* since the last fork, of this one and those before in its place */
	struct protocol_failure failure;
};

static struct source sources[TEMPLATES_MAX];
static struct source *chosen; /* of which the next fork is */

/* --- the end --- */

static void let_go(struct source *s)
{
	if (!s->ordered)
		return;
	if (s->pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
		waitid(P_PIDFD, (id_t)s->pidfd, &(siginfo_t){ 0 }, WEXITED);
	}
	close_all((int[]){ s->orders, s->pidfd }, 2);
	s->ordered = s->ready = s->rehearses = s->stopped = false;
	s->bytes = 0;
}

/* And there will be no other: what failed once is not tried for every job. */
static int refuse(struct source *s, const char *step, const struct protocol_failure *failure)
{
	if (failure && failure->step[0] != '\0')
		s->failure = *failure;
	else
		failure_set(&s->failure, step, "");
	let_go(s);
	return -1;
}

/* It has ended. The kernel may have chosen it when a run ate all memory: then there is another,
 * unless that has become a habit. */
static int bury(struct source *s, const char *step)
{
	errno = 0;
	if (++s->deaths == DEATHS_MAX)
		return refuse(s, step, NULL);
	let_go(s);
	return -1;
}

/* --- events --- */

/* -1 with errno: none came. */
static int receive_within(int fd, int wait_ms, struct event *ret, int *ret_fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&ready, 1, wait_ms);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		errno = ETIMEDOUT;
	if (n <= 0)
		return -1;
	if (message_receive(fd, ret, sizeof(*ret), ret_fd, 1) == sizeof(*ret))
		return 0;
	errno = 0; /* it has ended */
	return -1;
}

/* What it holds of memory, by the kernel's own sum; -1: not to be had. */
static int64_t memory_of(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", (long)pid);
	char text[4096];
	if (file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	const char *line = strstr(text, "\nAnonymous:");
	return !line ? -1 : strtoll(line + strlen("\nAnonymous:"), NULL, 10) * 1024;
}

static int measure(struct source *s)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", s->pidfd);
	char text[1024];
	if (file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	const char *line = strstr(text, "Pid:");
	int64_t bytes = !line ? -1 : memory_of((pid_t)strtol(line + 4, NULL, 10));
	if (bytes < 0)
		return -1;
	s->bytes = (bytes + ROUND_BYTES) / ROUND_BYTES * ROUND_BYTES;
	return 0;
}

/* Of one that was ordered: that it is born, all but ready, or ready; or what failed. */
static int read_event(struct source *s, int wait_ms)
{
	struct event event;
	int fd = -1;

	if (receive_within(s->orders, wait_ms, &event, &fd) < 0)
		return errno == ETIMEDOUT ? refuse(s, "template: it takes too long", NULL) :
					    bury(s, "template: it ended");
	if (event.kind == EVENT_BORN && s->pidfd < 0) {
		s->pidfd = fd;
		return 0;
	}
	close_all(&fd, 1);
	if (event.kind == EVENT_WAITING && s->pidfd >= 0 && !s->rehearses) {
		s->rehearses = true;
		return 0;
	}
	if (event.kind != EVENT_READY || s->pidfd < 0)
		return refuse(s, "template: it failed", &event.failure);
	s->ready = true;
	return measure(s) < 0 ? refuse(s, "template: its memory cannot be told", NULL) : 0;
}

static bool has_event(const struct source *s)
{
	struct pollfd ready = { .fd = s->orders, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
}

/* It says nothing unasked but that it ended. One that died well made may have a successor. */
static bool lives(struct source *s)
{
	if (s->ordered && s->ready && has_event(s))
		let_go(s);
	return s->ordered;
}

/* --- the start --- */

/* A copy, for the maps of an interpreter say where what is loaded lies. */
static int copy_object(int object)
{
	int copy = memfd_create("assay-warm", MFD_CLOEXEC);
	char text[16384];
	off_t at = 0;
	ssize_t n;

	while (copy >= 0 && (n = pread(object, text, sizeof(text), at)) != 0) {
		if (n < 0 || write(copy, text, (size_t)n) != n) {
			close_all(&copy, 1);
			break;
		}
		at += n;
	}
	return copy;
}

static int order(struct source *s, const struct keeper *k, const int *fds)
{
	const struct standby order = { .makes_template = 1 };
	const size_t count = !s->warm.ahead ? TEMPLATE_AHEAD : TEMPLATE_FDS;
	int pair[2], copy = copy_object(fds[PROTOCOL_FD_OBJECT]);

	if (copy < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		close_all(&copy, 1);
		return -1;
	}
	int status = message_send(
		k->launcher.orders, &order, sizeof(order),
		(int[]){ fds[PROTOCOL_FD_PAYLOAD], copy, pair[1], fds[PROTOCOL_FD_AHEAD] }, count);
	close_all((int[]){ copy, pair[1] }, 2);
	s->orders = pair[0];
	return status;
}

/* Of packages: what begins with a "-" is started fast. */
static bool is_set(const struct source *s)
{
	return s->warm.modules && *s->warm.modules != '-';
}

static void start(struct source *s, const struct keeper *k, const int *fds)
{
	s->ordered = true;
	s->orders = s->pidfd = -1;
	s->bytes = is_set(s) ? START_SET_BYTES : START_BYTES;
	s->ordered_us = now_us();
	s->forks = 0;
	if (order(s, k, fds) < 0)
		refuse(s, "template: order one", NULL);
}

static bool same_text(const char *a, const char *b)
{
	return !a || !b ? a == b : !strcmp(a, b);
}

/* One that nobody asked for in a while makes room. */
static struct source *make_room(void)
{
	struct source *oldest = NULL;

	for (struct source *s = sources; s < sources + TEMPLATES_MAX; s++) {
		if (!s->payload.map)
			return s;
		if (s->failure.step[0] == '\0' && (!oldest || s->used_us < oldest->used_us))
			oldest = s;
	}
	if (!oldest || now_us() - oldest->used_us < KEPT_US)
		return NULL;
	let_go(oldest);
	payload_unmap(&oldest->payload);
	return oldest;
}

/* NULL: it is none, and there is no room for it. */
static struct source *find(int payload)
{
	struct source asked = { .ordered = false };

	if (payload_read(payload, &asked.payload, &asked.program, &asked.warm) < 0) {
		payload_unmap(&asked.payload);
		return NULL;
	}
	struct source *s;
	for (s = sources; s < sources + TEMPLATES_MAX; s++)
		if (s->payload.map && same_text(s->warm.modules, asked.warm.modules) &&
		    same_text(s->warm.ahead, asked.warm.ahead) &&
		    payload_same_program(&s->program, &asked.program))
			break;
	if (s < sources + TEMPLATES_MAX) {
		payload_unmap(&asked.payload);
		return s;
	}
	s = make_room();
	if (!s)
		payload_unmap(&asked.payload);
	else
		*s = asked;
	return s;
}

bool template_serves(const struct keeper *k, const int *fds)
{
	struct source *s = fds[PROTOCOL_FD_OBJECT] < 0 ? NULL : find(fds[PROTOCOL_FD_PAYLOAD]);

	chosen = s;
	if (!s || s->failure.step[0] != '\0')
		return false;
	s->used_us = now_us();
	if (!s->ordered) {
		start(s, k, fds);
		return false;
	}
	while (s->ordered && !s->ready && has_event(s))
		read_event(s, 0);
	if (s->ordered && !s->ready && now_us() - s->ordered_us > START_MAX_US)
		refuse(s, "template: it takes too long", NULL);
	return s->ready && lives(s);
}

/* --- others run, or are waited for --- */

bool template_await(void)
{
	struct source *s = chosen;
	int64_t until = now_us() + START_MS * 1000ll;

	while (s && s->ordered && !s->ready) {
		struct pollfd event = (struct pollfd){ .fd = s->orders, .events = POLLIN };
		int64_t left = (until - now_us()) / 1000;
		if (left <= 0 || poll(&event, 1, (int)left) <= 0)
			break;
		read_event(s, 0);
	}
	return s && s->ready && lives(s);
}

static void go_on(struct source *s)
{
	syscall(SYS_pidfd_send_signal, s->pidfd, SIGCONT, NULL, 0);
	s->stopped = false;
}

static void settle(struct source *s)
{
	while (s->ordered && !s->ready)
		read_event(s, START_MS);
}

/* It starts on when the run is over; what it holds is known as long as it stands still. */
static void stop(struct source *s)
{
	while (s->ordered && s->pidfd < 0)
		read_event(s, START_MS);
	if (!s->ordered)
		return;
	syscall(SYS_pidfd_send_signal, s->pidfd, SIGSTOP, NULL, 0);
	waitid(P_PIDFD, (id_t)s->pidfd, &(siginfo_t){ 0 }, WSTOPPED | WEXITED | WNOWAIT);
	s->stopped = true;
	while (s->ordered && !s->ready && has_event(s))
		read_event(s, 0);
	if (s->ordered && (s->ready || s->rehearses)) {
		go_on(s);
		settle(s);
	} else if (s->ordered && measure(s) < 0) {
		bury(s, "template: it ended");
	}
}

void template_before_run(void)
{
	for (struct source *s = sources; s < sources + TEMPLATES_MAX; s++) {
		if (!is_set(s))
			settle(s);
		else if (s->ordered && !s->ready)
			stop(s);
	}
}

bool template_after_run(void)
{
	bool grows = false;

	for (struct source *s = sources; s < sources + TEMPLATES_MAX; s++) {
		lives(s);
		if (!s->ordered || !s->stopped)
			continue;
		s->bytes = START_SET_BYTES;
		grows = true;
	}
	return grows;
}

void template_go_on(void)
{
	for (struct source *s = sources; s < sources + TEMPLATES_MAX; s++)
		if (s->ordered && s->stopped)
			go_on(s);
}

/* --- forks --- */

/* Of those that an init has; where they are the template's own, no harm is done. */
static uint32_t namespaces(const struct keeper *k)
{
	return CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET |
	       (k->hello.namespaces & PROTOCOL_NS_CGROUP ? CLONE_NEWCGROUP : 0);
}

static int ask(struct source *s, const struct keeper *k, int init, const struct launch *launch,
	       int socket)
{
	const struct warm_order order = { .namespaces = namespaces(k), .launch = *launch };
	struct event event = { .kind = EVENT_FAILED };
	int none = -1;

	if (message_send(s->orders, &order, sizeof(order), (int[]){ init, socket },
			 WARM_ORDER_FDS) < 0 ||
	    receive_within(s->orders, FORK_MS, &event, &none) < 0)
		return errno == ETIMEDOUT ? refuse(s, "template: it does not answer", NULL) :
					    bury(s, "template: it ended");
	close_all(&none, 1);
	if (event.kind != EVENT_BORN)
		return refuse(s, "template: it failed", &event.failure);
	/* Where it died meanwhile, that is seen next. */
	if (s->forks < MEASURED_FIRST || s->forks % MEASURED_EVERY == 0)
		measure(s);
	s->forks++;
	return 0;
}

int template_fork(const struct keeper *k, int init, const struct launch *launch, int *ret_go,
		  int *ret_listener)
{
	struct source *s = chosen;
	struct event event = { .kind = EVENT_FAILED };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return refuse(s, "template: a socket", NULL);
	int status = ask(s, k, init, launch, pair[1]);
	close_all(&pair[1], 1);
	*ret_listener = -1;
	if (status == 0 && receive_within(pair[0], FORK_MS, &event, ret_listener) < 0)
		status = errno == ETIMEDOUT ?
				 refuse(s, "template: its fork does not answer", NULL) :
				 bury(s, "template: its fork ended");
	if (status == 0 && (event.kind != EVENT_LISTENER || *ret_listener < 0))
		status = refuse(s, "template: its fork failed", &event.failure);
	if (status < 0) {
		close_all((int[]){ pair[0], *ret_listener }, 2);
		*ret_listener = -1;
		return -1;
	}
	s->deaths = 0;
	*ret_go = pair[0];
	return 0;
}

/* --- what is known of them --- */

bool template_all_live(void)
{
	bool all = true;

	for (struct source *s = sources; s < sources + TEMPLATES_MAX; s++)
		all &= !s->ordered || lives(s);
	return all;
}

/* The soonest that one was unused for so long; those that were are no more. */
static int64_t let_go_of_idle(int64_t idle_us)
{
	int64_t now = now_us(), next = INT64_MAX;

	for (struct source *s = sources; s < sources + TEMPLATES_MAX; s++) {
		if (s->ordered && now - s->used_us >= idle_us)
			let_go(s);
		else if (s->ordered && s->used_us + idle_us < next)
			next = s->used_us + idle_us;
	}
	return next;
}

void template_idle(const struct keeper *k, int64_t idle_ms)
{
	struct pollfd client = { .fd = k->client, .events = POLLIN };
	int64_t next;

	while ((next = let_go_of_idle(idle_ms * 1000)) != INT64_MAX)
		if (poll(&client, 1, (int)((next - now_us()) / 1000) + 1) > 0)
			return;
}

int64_t template_bytes(void)
{
	int64_t sum = 0;

	for (size_t i = 0; i < TEMPLATES_MAX; i++)
		sum += sources[i].bytes;
	return sum;
}

int64_t template_pids(void)
{
	int64_t sum = 0;

	for (size_t i = 0; i < TEMPLATES_MAX; i++)
		sum += sources[i].ordered;
	return sum;
}

struct protocol_failure template_failure(void)
{
	size_t i = 0;

	while (i < TEMPLATES_MAX - 1 && sources[i].failure.step[0] == '\0')
		i++;
	return sources[i].failure;
}
