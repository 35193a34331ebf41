/*
 * The template of interpreters, as the keeper has it: ordered of the launcher, asked for forks, and
 * given up for good with the first thing that is not as it should be: then interpreters start as
 * they did before there were templates. It never comes near a guest: it is in no namespace of a
 * run, has no descriptor of one, and is told nothing of any job.
 *
 * Its memory lies in the run's groups, whose limit is larger by just that while it lives. What a
 * fork shares with it is in there once; what the fork writes to is a copy of its own, and counts.
 */
#include "sandbox/native/keeper/template.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define START_MS 3000 /* a start this long is none; less than the client gives us beyond a run */
#define FORK_MS	 2000
/* The most that one may take while it starts, and so the limit of its modules. */
#define START_BYTES (64ll << 20)
#define DEATHS_MAX  3		  /* between two forks */
#define ROUND_BYTES (256ll << 10) /* up, for its page tables */

/* There is one for a keeper. */
static struct {
	bool ordered; /* and not let go of since; what follows is whole */
	bool ready;
	int orders; /* socket to it */
	int pidfd;  /* -1 until the launcher has told */
	int64_t bytes;
	struct payload payload;
	struct program program; /* it was started as this, which is in the payload */
	unsigned deaths;	/* since the last fork, of this one and others */
	struct protocol_failure failure;
} source;

/* --- the end --- */

static void let_go(void)
{
	if (!source.ordered)
		return;
	if (source.pidfd >= 0) {
		syscall(SYS_pidfd_send_signal, source.pidfd, SIGKILL, NULL, 0);
		waitid(P_PIDFD, (id_t)source.pidfd, &(siginfo_t){ 0 }, WEXITED);
	}
	close_all((int[]){ source.orders, source.pidfd }, 2);
	payload_unmap(&source.payload);
	source.ordered = source.ready = false;
	source.bytes = 0;
}

/* And there will be no other: what failed once is not tried for every job. */
static int refuse(const char *step, const struct protocol_failure *failure)
{
	if (failure != NULL && failure->step[0] != '\0')
		source.failure = *failure;
	else
		failure_set(&source.failure, step, "");
	let_go();
	return -1;
}

/* It has ended. The kernel may have chosen it when a run ate all memory: then there is another,
 * unless that has become a habit. */
static int bury(const char *step)
{
	errno = 0;
	if (++source.deaths == DEATHS_MAX)
		return refuse(step, NULL);
	let_go();
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
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", (long)pid);
	if (file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, "\nAnonymous:");
	return line == NULL ? -1 : strtoll(line + strlen("\nAnonymous:"), NULL, 10) * 1024;
}

static int measure(void)
{
	char path[64], text[1024];
	const char *line;
	int64_t bytes;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", source.pidfd);
	if (file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	line = strstr(text, "Pid:");
	bytes = line == NULL ? -1 : memory_of((pid_t)strtol(line + 4, NULL, 10));
	if (bytes < 0)
		return -1;
	source.bytes = (bytes + ROUND_BYTES) / ROUND_BYTES * ROUND_BYTES;
	return 0;
}

/* Of one that was ordered: that it is born, or ready, or what failed. */
static int read_event(int wait_ms)
{
	struct event event;
	int fd = -1;

	if (receive_within(source.orders, wait_ms, &event, &fd) < 0)
		return errno == ETIMEDOUT ? refuse("template: it takes too long", NULL) :
					    bury("template: it ended");
	if (event.kind == EVENT_BORN && source.pidfd < 0) {
		source.pidfd = fd;
		return 0;
	}
	close_all(&fd, 1);
	if (event.kind != EVENT_READY || source.pidfd < 0)
		return refuse("template: it failed", &event.failure);
	source.ready = true;
	return measure() < 0 ? refuse("template: its memory cannot be told", NULL) : 0;
}

static bool has_event(void)
{
	struct pollfd ready = { .fd = source.orders, .events = POLLIN };

	return poll(&ready, 1, 0) > 0;
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

static int order(const struct keeper *k, int payload, int object)
{
	const struct standby order = { .makes_template = 1 };
	int pair[2], copy = copy_object(object), status;

	if (copy < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		close_all(&copy, 1);
		return -1;
	}
	status = message_send(k->launcher.orders, &order, sizeof(order),
			      (int[]){ payload, copy, pair[1] }, TEMPLATE_FDS);
	close_all((int[]){ copy, pair[1] }, 2);
	source.orders = pair[0];
	return status;
}

static void start(const struct keeper *k, int payload, int object)
{
	const char *modules;

	memset(&source.program, 0, sizeof(source.program));
	source.ordered = true;
	source.orders = source.pidfd = -1;
	source.bytes = START_BYTES;
	if (payload_read(payload, &source.payload, &source.program, &modules) < 0 ||
	    order(k, payload, object) < 0)
		refuse("template: order one", NULL);
}

static bool is_of(int payload)
{
	struct payload asked;
	struct program program = { .path = NULL };
	const char *modules;
	bool same = payload_read(payload, &asked, &program, &modules) == 0 &&
		    payload_same_program(&source.program, &program);

	payload_unmap(&asked);
	return same;
}

bool template_serves(const struct keeper *k, int payload, int object)
{
	if (source.failure.step[0] != '\0' || object < 0)
		return false;
	if (!source.ordered) {
		start(k, payload, object);
		return false;
	}
	while (source.ordered && !source.ready && has_event())
		read_event(0);
	return source.ready && template_lives() && is_of(payload);
}

void template_settle(void)
{
	while (source.ordered && !source.ready)
		read_event(START_MS);
}

/* --- forks --- */

/* Of those that an init has; where they are the template's own, no harm is done. */
static uint32_t namespaces(const struct keeper *k)
{
	return CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET |
	       (k->hello.namespaces & PROTOCOL_NS_CGROUP ? CLONE_NEWCGROUP : 0);
}

static int ask(const struct keeper *k, int init, const struct launch *launch, int socket)
{
	const struct warm_order order = { .namespaces = namespaces(k), .launch = *launch };
	struct event event = { .kind = EVENT_FAILED };
	int none = -1;

	if (message_send(source.orders, &order, sizeof(order), (int[]){ init, socket },
			 WARM_ORDER_FDS) < 0 ||
	    receive_within(source.orders, FORK_MS, &event, &none) < 0)
		return errno == ETIMEDOUT ? refuse("template: it does not answer", NULL) :
					    bury("template: it ended");
	close_all(&none, 1);
	if (event.kind != EVENT_BORN)
		return refuse("template: it failed", &event.failure);
	measure(); /* where it died meanwhile, that is seen next */
	return 0;
}

int template_fork(const struct keeper *k, int init, const struct launch *launch, int *ret_go,
		  int *ret_listener)
{
	struct event event = { .kind = EVENT_FAILED };
	int pair[2], status;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return refuse("template: a socket", NULL);
	status = ask(k, init, launch, pair[1]);
	close_all(&pair[1], 1);
	*ret_listener = -1;
	if (status == 0 && receive_within(pair[0], FORK_MS, &event, ret_listener) < 0)
		status = errno == ETIMEDOUT ? refuse("template: its fork does not answer", NULL) :
					      bury("template: its fork ended");
	if (status == 0 && (event.kind != EVENT_LISTENER || *ret_listener < 0))
		status = refuse("template: its fork failed", &event.failure);
	if (status < 0) {
		close_all((int[]){ pair[0], *ret_listener }, 2);
		*ret_listener = -1;
		return -1;
	}
	source.deaths = 0;
	*ret_go = pair[0];
	return 0;
}

/* It says nothing unasked but that it ended. One that died well made may have a successor. */
bool template_lives(void)
{
	if (source.ordered && source.ready && has_event())
		let_go();
	return source.ordered;
}

void template_idle(const struct keeper *k, int64_t idle_ms)
{
	struct pollfd client = { .fd = k->client, .events = POLLIN };
	int64_t until = now_us() + idle_ms * 1000, left;

	while (source.ordered) {
		left = (until - now_us()) / 1000;
		if (left <= 0)
			let_go();
		else if (poll(&client, 1, (int)left) > 0)
			return;
	}
}

/* --- what is known of it --- */

int64_t template_bytes(void)
{
	return source.bytes;
}

int64_t template_pids(void)
{
	return source.ordered;
}

struct protocol_failure template_failure(void)
{
	return source.failure;
}

/* --- in a child of the launcher --- */

static int take_numbers(const int *fds)
{
	int orders = fcntl(fds[TEMPLATE_ORDERS], F_DUPFD, WARM_OBJECT_FD + 1);
	int object = fcntl(fds[TEMPLATE_OBJECT], F_DUPFD, WARM_OBJECT_FD + 1);

	if (orders < 0 || object < 0 || dup2(orders, WARM_ORDERS_FD) < 0 ||
	    dup2(object, WARM_OBJECT_FD) < 0)
		return -1;
	return (int)syscall(SYS_close_range, WARM_OBJECT_FD + 1u, ~0u, 0u);
}

static int add(struct program *p, const char *text)
{
	size_t n = 0;

	while (p->env[n] != NULL)
		n++;
	if (n + 1 >= sizeof(p->env) / sizeof(p->env[0]))
		return -1;
	p->env[n] = text;
	return 0;
}

int template_exec(const int *fds)
{
	static struct program program;
	static char named[4096];
	struct payload payload;
	char *const *argv, *const *env;
	const char *modules;

	if (payload_read(fds[TEMPLATE_PAYLOAD], &payload, &program, &modules) < 0 ||
	    confine_fixed_rlimits() < 0)
		return -1;
	if (modules != NULL &&
	    (size_t)snprintf(named, sizeof(named), WARM_MODULES "=%s", modules) >= sizeof(named))
		return -1;
	if (add(&program, "LD_PRELOAD=/proc/self/fd/4") < 0 ||
	    (modules != NULL && add(&program, named) < 0) || take_numbers(fds) < 0)
		return -1;
	memcpy(&argv, &(const char *const *){ program.argv }, sizeof(argv));
	memcpy(&env, &(const char *const *){ program.env }, sizeof(env));
	return execve(program.path, argv, env);
}
