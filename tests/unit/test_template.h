/*
 * A keeper and an init as small as they can be, for templates: the keeper's own root, the first
 * steps of its own init, and a run that is started cold or forked from a template.
 */
#ifndef TEST_TEMPLATE_H
#define TEST_TEMPLATE_H

#include "sandbox/native/keeper/init.c"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define STAGE_TEXT (1 << 20)

/* One for a process: it is what a keeper is. */
struct stage {
	pid_t template;
	int orders; /* to the template */
	struct protocol_hello hello;
	struct cgroups none;
};

struct stage_run {
	bool warm;
	pid_t init;
	int pidfd, events, go, listener, out, err;
	int go_guest; /* the waiting interpreter's end */
	bool done;
	int status;
	struct notify notify;
	struct grants grants;
	struct ledger ledger;
	struct protocol_result result;
	struct rusage rusage; /* of init and what it reaped */
	char text[2][STAGE_TEXT];
	size_t len[2];
	struct protocol_failure failure;
	int64_t gone_us, started_us,
		ended_us; /* go; the program may run; output and process ended */
};

static const char *const stage_env[] = { "PYTHONHASHSEED=0",
					 "PYTHONDONTWRITEBYTECODE=1",
					 "PATH=/usr/local/bin:/usr/bin:/bin",
					 "HOME=/work",
					 "LANG=C.UTF-8",
					 NULL };
static const char *const stage_argv[] = { "/usr/bin/python3", "-s", "-B", "/work/main.py", NULL };

static void stage_fail(const char *step, const struct protocol_failure *failure)
{
	fprintf(stderr, "# %s: %s: %s %s\n", step, failure->step, strerror(failure->errnum),
		failure->remedy);
}

/* 0, or -1. Makes this process a keeper: there is no way back. */
static int stage_enter(struct stage *s)
{
	struct protocol_failure failure = { .errnum = 0 };
	uint32_t namespaces;

	*s = (struct stage){ .orders = -1 };
	dup3(eventfd(0, EFD_CLOEXEC), PROTOCOL_STARTED_FD, O_CLOEXEC);
	if (root_unshare(&namespaces, &failure) < 0 || root_enter(&failure) < 0) {
		stage_fail("root", &failure);
		return -1;
	}
	s->hello.landlock_abi = confine_landlock_abi();
	return confine_fix_privileges(true);
}

static void stage_exec_template(int orders, int object, const char *modules)
{
	const char *env[16];
	char *const *argv, *const *envp;
	size_t n = 0;

	while (stage_env[n]) {
		env[n] = stage_env[n];
		n++;
	}
	env[n++] = "LD_PRELOAD=/proc/self/fd/4";
	char named[4200];
	snprintf(named, sizeof(named), WARM_MODULES "=%s", modules ? modules : "");
	if (modules)
		env[n++] = named;
	env[n] = NULL;
	orders = fcntl(orders, F_DUPFD, 10);
	object = fcntl(object, F_DUPFD, 10);
	dup2(orders, WARM_ORDERS_FD);
	dup2(object, WARM_OBJECT_FD);
	memcpy(&argv, &(const char *const *){ stage_argv }, sizeof(argv));
	memcpy(&envp, &(const char *const *){ env }, sizeof(envp));
	execve(stage_argv[0], argv, envp);
	_exit(127);
}

static int stage_template(struct stage *s, int object, const char *modules)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	s->template = fork();
	if (s->template == 0)
		stage_exec_template(pair[1], object, modules);
	close(pair[1]);
	s->orders = pair[0];
	struct event event;
	do {
		if (message_receive(s->orders, &event, sizeof(event), NULL, 0) != sizeof(event)) {
			fprintf(stderr, "# the template said nothing\n");
			return -1;
		}
	} while (event.kind == EVENT_WAITING); /* all but ready */
	if (event.kind != EVENT_READY) {
		stage_fail("template", &event.failure);
		return -1;
	}
	return 0;
}

static struct launch stage_launch(const struct stage *s)
{
	return (struct launch){ .limits = { .wall_ms = 20000,
					    .cpu_ms = 10000,
					    .memory_bytes = 512 << 20,
					    .processes = 64,
					    .open_files = 256,
					    .disk_bytes = 64 << 20,
					    .inodes = 16384 },
				.filter = PROTOCOL_FILTER_STANDARD,
				.landlock_abi = s->hello.landlock_abi,
				.pids_cgroup = 1 };
}

static void stage_write(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (write(fd, text, len) != (ssize_t)len)
		_exit(9);
	close(fd);
}

/* As walls_take_job, but that the program comes over the socket. */
static void stage_take(struct init *i, bool *ret_warm)
{
	static char program[STAGE_TEXT];
	ssize_t n =
		message_receive(i->keeper, &i->launch, sizeof(i->launch), i->fds, PROTOCOL_RUN_FDS);

	if (n != sizeof(i->launch))
		_exit(0);
	ssize_t len = pread(i->fds[PROTOCOL_FD_PAYLOAD], program, sizeof(program), 0);
	stage_write("/work/main.py", program, (size_t)len);
	*ret_warm = i->fds[PROTOCOL_FD_LINK_IN] >= 0;
	if (confine_drop_capabilities() < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		fail(i, "drop capabilities", "");
}

/* What start_guest is for one that waits. */
static pid_t stage_let_go(struct init *i)
{
	int go = i->fds[PROTOCOL_FD_LINK_IN];
	const int begun = eventfd(0, EFD_CLOEXEC);
	int fds[PROTOCOL_PLAIN_FDS] = { begun,
					begun,
					begun,
					i->fds[PROTOCOL_FD_STDIN],
					i->fds[PROTOCOL_FD_STDOUT],
					i->fds[PROTOCOL_FD_STDERR] };
	struct event event;

	if (message_send(go, &i->launch, sizeof(i->launch), fds, PROTOCOL_PLAIN_FDS) < 0 ||
	    message_receive(go, &event, sizeof(event), NULL, 0) != sizeof(event))
		fail(i, "let the guest go", "");
	send_event(i, &event, NULL, 0);
	close_all(i->fds, PROTOCOL_RUN_FDS);
	close(begun);
	if (i->oom >= 0)
		(void)!write(i->oom, "0", 1);
	return 2;
}

static void stage_init(const struct standby *standby, int keeper) __attribute__((noreturn));
static void stage_init(const struct standby *standby, int keeper)
{
	static struct init i;

	i = (struct init){ .standby = standby, .keeper = keeper, .oom = -1 };
	prepare(&i);
	send_event(&i, &(struct event){ .kind = EVENT_READY }, NULL, 0);
	bool warm;
	stage_take(&i, &warm);
	memcpy(i.program.argv, stage_argv, sizeof(stage_argv));
	memcpy(i.program.env, stage_env, sizeof(stage_env));
	i.program.path = stage_argv[0];
	pid_t guest = warm ? stage_let_go(&i) : start_guest(&i);
	close_all(i.fds, PROTOCOL_RUN_FDS);
	reap_until(&i, guest);
}

/* An init that waits. */
static int stage_prepare(struct stage_run *r)
{
	struct standby standby = { .disk_bytes = 64 << 20, .inodes = 16384 };

	memset(r, 0, offsetof(struct stage_run, text));
	r->len[0] = r->len[1] = 0;
	r->failure.step[0] = '\0';
	r->listener = r->go = r->go_guest = -1;
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	r->init = (pid_t)syscall(SYS_clone,
				 CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET |
					 CLONE_PIDFD | SIGCHLD,
				 NULL, &r->pidfd, NULL, 0);
	if (r->init == 0) {
		close(pair[0]);
		stage_init(&standby, pair[1]);
	}
	close(pair[1]);
	r->events = pair[0];
	struct event event;
	if (message_receive(r->events, &event, sizeof(event), NULL, 0) != sizeof(event) ||
	    event.kind != EVENT_READY) {
		stage_fail("init", &event.failure);
		return -1;
	}
	return 0;
}

/* An interpreter that waits in it. */
static int stage_wait(struct stage *s, struct stage_run *r)
{
	struct warm_order order = { .namespaces = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC |
						  CLONE_NEWNET,
				    .launch = stage_launch(s) };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	message_send(s->orders, &order, sizeof(order), (int[]){ r->pidfd, pair[1] },
		     WARM_ORDER_FDS);
	close(pair[1]);
	r->go = pair[0];
	struct event event;
	if (message_receive(s->orders, &event, sizeof(event), NULL, 0) != sizeof(event) ||
	    event.kind != EVENT_BORN) {
		stage_fail("order", &event.failure);
		return -1;
	}
	if (message_receive(r->go, &event, sizeof(event), &r->listener, 1) != sizeof(event) ||
	    event.kind != EVENT_LISTENER || r->listener < 0) {
		stage_fail("waiting", &event.failure);
		return -1;
	}
	r->warm = true;
	return 0;
}

static void stage_event(struct stage_run *r)
{
	struct event event;
	int fds[STARTED_FDS];

	if (message_receive(r->events, &event, sizeof(event), fds, STARTED_FDS) != sizeof(event)) {
		r->done = true;
		return;
	}
	if (event.kind == EVENT_LISTENER) {
		r->listener = r->notify.listener = fds[0];
		return;
	}
	if (event.kind == EVENT_STARTED)
		r->started_us = event.at_us;
	if (event.kind == EVENT_FAILED) {
		r->failure = event.failure;
		r->done = true;
	}
	if (event.kind == EVENT_DONE) {
		r->status = event.status;
		r->done = true;
	}
	close_all(fds, STARTED_FDS);
}

/* False at the end. */
static bool stage_read(struct stage_run *r, int which, int fd)
{
	ssize_t n = read(fd, r->text[which] + r->len[which], STAGE_TEXT - 1 - r->len[which]);

	if (n > 0)
		r->len[which] += (size_t)n;
	r->text[which][r->len[which]] = '\0';
	return n > 0;
}

static void stage_watch(struct stage_run *r, int out, int err, int64_t deadline_us)
{
	r->grants.proc = -1;
	r->notify = (struct notify){ .listener = r->listener,
				     .grants = &r->grants,
				     .ledger = &r->ledger,
				     .result = &r->result };
	while (!r->done || out >= 0 || err >= 0) {
		struct pollfd fds[] = { { .fd = r->done ? -1 : r->events, .events = POLLIN },
					{ .fd = r->listener, .events = POLLIN },
					{ .fd = out, .events = POLLIN },
					{ .fd = err, .events = POLLIN } };

		if (now_us() > deadline_us) {
			kill(r->init, SIGKILL);
			r->status = -1;
			r->done = true;
		}
		if (poll(fds, 4, 100) <= 0)
			continue;
		if (fds[1].revents & POLLIN)
			notify_answer(&r->notify);
		else if (fds[1].revents)
			close_all(&r->listener, 1);
		if (fds[2].revents && !stage_read(r, 0, out))
			close_all(&out, 1);
		if (fds[3].revents && !stage_read(r, 1, err))
			close_all(&err, 1);
		if (fds[0].revents)
			stage_event(r);
	}
	r->ended_us = now_us();
}

/* Runs it where stage_prepare, and stage_wait if it is to be warm, have been. */
static void stage_go(struct stage *s, struct stage_run *r, const char *program, size_t len,
		     int input)
{
	struct launch launch = stage_launch(s);
	int out[2], err[2], program_fd = memfd_create("program", MFD_CLOEXEC), null = -1;

	(void)!write(program_fd, program, len);
	(void)!pipe2(out, O_CLOEXEC);
	(void)!pipe2(err, O_CLOEXEC);
	if (input < 0)
		input = null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	r->gone_us = now_us();
	message_send(r->events, &launch, sizeof(launch),
		     (int[]){ program_fd, program_fd, program_fd, input, out[1], err[1], r->go },
		     r->warm ? PROTOCOL_PLAIN_FDS + 1 : PROTOCOL_PLAIN_FDS);
	close_all((int[]){ program_fd, out[1], err[1], null }, 4);
	close_all(&r->go, 1);
	stage_watch(r, out[0], err[0], now_us() + 30000000);
	kill(r->init, SIGKILL);
	wait4(r->init, NULL, 0, &r->rusage);
	close_all((int[]){ r->pidfd, r->events, r->listener }, 3);
}

#endif
