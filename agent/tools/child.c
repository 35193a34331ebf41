/*
 * A program of the user's beside assay (child.h). Its parent is a guard of ours, to which all falls
 * that it leaves behind, in whatever group or session; the guard ends all of it when it is done
 * with, and when assay is gone, however it went. No call here waits on one descriptor alone. No
 * program of a model's or a guest's is ever started here: commands come from the configuration,
 * arguments as bytes on a pipe.
 */
#include "agent/tools/child.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/spawn.h"
#include "base/utf8.h"
#include "llm/split.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOTES_MAX   ((size_t)4096)
#define NOTES_TOLD  400
#define GRACE_MS    300	 /* between SIGTERM and SIGKILL */
#define END_MS	    2000 /* for the last of it to end, which may be another user's */
#define LONG_MS	    60000
#define SENDING_MAX ((size_t)8 << 20)

extern char **environ;

/* --- starting --- */

static bool is_listed(const char *list, const char *name, size_t len)
{
	while (list && *(list += strspn(list, ", "))) {
		size_t n = strcspn(list, ", ");

		if (n == len && !memcmp(list, name, n))
			return true;
		list += n;
	}
	return false;
}

/* Borrowed strings; caller frees the array. */
static char **make_environ(const char *more)
{
	static const char common[] =
		"PATH,HOME,USER,LOGNAME,SHELL,LANG,LC_ALL,LC_CTYPE,TZ,TMPDIR,XDG_CONFIG_HOME,"
		"XDG_CACHE_HOME,XDG_DATA_HOME,XDG_RUNTIME_DIR";
	size_t count = 0;

	while (environ[count])
		count++;
	char **env = mem_array(NULL, count + 1, sizeof(*env));
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		size_t len = strcspn(environ[i], "=");

		if (is_listed(common, environ[i], len) || is_listed(more, environ[i], len))
			env[n++] = environ[i];
	}
	env[n] = NULL;
	return env;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		io_close(*fd);
	*fd = -1;
}

/* --- the guard --- */

/* What it says: first how the start went, later how the program ended. */
struct started {
	int failed; /* errno, or 0 */
	pid_t pid;
};

struct plan {
	char **argv, **env;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attr;
	int lifeline, report;
};

/* Only what may be called between fork and exec of a process with threads. */
static void kill_children(pid_t program)
{
	int fd = open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	const char *at = text;

	if (fd >= 0)
		close(fd);
	else if (program > 0)
		kill(-program, SIGKILL);
	text[n > 0 ? n : 0] = '\0';
	while (*at) {
		pid_t pid = 0;

		while (*at >= '0' && *at <= '9')
			pid = pid * 10 + (*at++ - '0');
		if (*at == ' ') /* else its number was cut */
			kill(pid, SIGKILL);
		at += *at != '\0';
	}
}

/* Who loses its parent becomes the guard's child, whatever session it is in: all end. */
static _Noreturn void end_all(pid_t program)
{
	const struct timespec while_they_end = { 0, 1000000 };
	pid_t pid = 0;

	for (int i = 0; i < END_MS && pid >= 0; i++) {
		kill_children(program);
		program = 0; /* its number may be another's from here on */
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			continue;
		if (pid == 0)
			nanosleep(&while_they_end, NULL);
	}
	_exit(0);
}

/* All but the program, whose number is its group's, too: as long as it is there, no stranger gets
 * that. */
static bool reap_children(pid_t program)
{
	siginfo_t info = { .si_pid = 0 };

	while (!waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid) {
		const int status = info.si_code == CLD_EXITED ? W_EXITCODE(info.si_status, 0) :
								W_EXITCODE(0, info.si_status);

		if (info.si_pid != program) {
			waitpid(info.si_pid, NULL, 0);
			info.si_pid = 0;
			continue;
		}
		(void)!write(STDOUT_FILENO, &status, sizeof(status));
		return true; /* nobody reads: that comes by the lifeline, too */
	}
	return false;
}

/* Its end is that of the lifeline, which only assay holds; a byte there is SIGTERM. All signals are
 * blocked. */
static _Noreturn void watch_over(pid_t program, int children)
{
	struct pollfd p[] = { { STDIN_FILENO, POLLIN, 0 }, { children, POLLIN, 0 } };
	bool ended = false;

	for (;;) {
		struct signalfd_siginfo info;

		if (poll(p, ARRAY_SIZE(p), -1) < 0)
			continue;
		if (p[1].revents && read(children, &info, sizeof(info)) > 0)
			ended = ended || reap_children(program);
		if (!p[0].revents)
			continue;
		char byte;
		if (read(STDIN_FILENO, &byte, 1) <= 0)
			end_all(program);
		if (!ended)
			kill(-program, SIGTERM);
	}
}

static _Noreturn void guard(const struct plan *plan)
{
	struct started started = { .pid = 0 };
	sigset_t child;
	int in = fcntl(plan->lifeline, F_DUPFD, 3), out = fcntl(plan->report, F_DUPFD, 3), fd;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	started.failed = posix_spawnp(&started.pid, plan->argv[0], plan->actions, plan->attr,
				      plan->argv, plan->env);
	if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    syscall(SYS_close_range, 2u, ~0u, 0u) < 0 ||
	    (fd = signalfd(-1, &child, SFD_NONBLOCK | SFD_CLOEXEC)) < 0 ||
	    write(STDOUT_FILENO, &started, sizeof(started)) < 0 || started.failed)
		end_all(started.pid);
	watch_over(started.pid, fd);
}

/* errno, or 0. */
static int fork_guard(struct child *c, const struct plan *plan)
{
	struct started started = { .failed = ECHILD };
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	c->guard = fork();
	if (c->guard == 0)
		guard(plan);
	int rc = c->guard < 0 ? errno : 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	io_close(plan->lifeline);
	io_close(plan->report);
	if (c->guard < 0)
		c->guard = 0;
	if (rc == 0 && io_read(c->report, &started, sizeof(started)) != sizeof(started))
		return ECHILD;
	c->pid = rc == 0 && started.failed == 0 ? started.pid : 0;
	fcntl(c->report, F_SETFL, O_NONBLOCK);
	return rc ? rc : started.failed;
}

/* By the guard, whose child the program is; and before it by a moment, so that there is none
 * without.
 */
static int spawn(struct child *c, char **argv, const char *env_names, const int fds[3])
{
	cleanup_free char **env = make_environ(env_names);
	int lifeline[2], report[2], rc;

	if (pipe2(lifeline, O_CLOEXEC) < 0)
		return errno;
	c->lifeline = lifeline[1];
	if (pipe2(report, O_CLOEXEC) < 0) {
		rc = errno;
		io_close(lifeline[0]);
		return rc;
	}
	c->report = report[0];
	posix_spawnattr_t attr;
	spawn_attributes(&attr, 0);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3); /* whoever started assay left some */
	rc = fork_guard(c, &(struct plan){ argv, env, &actions, &attr, lifeline[0], report[1] });
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return rc;
}

/* Three pipes: ends[i][0] is read. */
static int make_pipes(int ends[3][2])
{
	int failed = 0;

	for (size_t i = 0; i < 3; i++) {
		ends[i][0] = ends[i][1] = -1;
		if (!failed && pipe2(ends[i], O_CLOEXEC) < 0)
			failed = errno;
	}
	return failed;
}

int child_start(struct child *ret, const char *name, const char *command, const char *env,
		struct error *err)
{
	char **argv = split_command(command, err);

	*ret = (struct child){ .name = name,
			       .lifeline = -1,
			       .report = -1,
			       .in = -1,
			       .out = -1,
			       .errors = -1,
			       .sending = BUF_INIT(SENDING_MAX),
			       .output = BUF_INIT(CHILD_OUTPUT_MAX),
			       .notes = BUF_INIT(NOTES_MAX) };
	if (!argv)
		return error_wrap(err, "the tool %s", name);
	int ends[3][2];
	int rc = make_pipes(ends);
	if (rc == 0)
		rc = spawn(ret, argv, env, (const int[]){ ends[0][0], ends[1][1], ends[2][1] });
	if (rc != 0)
		error_set_errno(err, ERR_CONFIG, rc, "the tool %s: %s", name, argv[0]);
	split_free(argv);
	ret->in = TAKE_FD(ends[0][1]);
	ret->out = TAKE_FD(ends[1][0]);
	ret->errors = TAKE_FD(ends[2][0]);
	for (size_t i = 0; i < 3; i++) {
		close_fd(&ends[i][0]);
		close_fd(&ends[i][1]);
	}
	if (rc != 0) {
		child_end(ret);
		return -1;
	}
	fcntl(ret->in, F_SETFL, O_NONBLOCK);
	fcntl(ret->out, F_SETFL, O_NONBLOCK);
	fcntl(ret->errors, F_SETFL, O_NONBLOCK);
	return 0;
}

/* --- carrying --- */

void child_send(struct child *c, const char *bytes, size_t len)
{
	buf_add(&c->sending, bytes, len);
}

/* One that reads no more has what it wants. */
static void put(struct child *c)
{
	while (c->in >= 0 && c->sending.len > 0) {
		ssize_t n = io_write(c->in, c->sending.data, c->sending.len);

		if (n > 0)
			buf_consume(&c->sending, (size_t)n);
		else if (errno == EAGAIN)
			return;
		else
			close_fd(&c->in);
	}
}

/* What there is, a piece of it. */
static int get_output(struct child *c, struct error *err)
{
	char bytes[65536];
	ssize_t n = io_read(c->out, bytes, sizeof(bytes));

	if (n > 0 && buf_add(&c->output, bytes, (size_t)n) < 0)
		return error_set(err, ERR_FAILED, "%s printed more than 8 MiB", c->name);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		close_fd(&c->out);
	return 0;
}

/* All of what it had printed when it ended: its last words may be younger than the last poll. What
 * it left behind may hold the pipe open, and print on. */
static int get_rest(struct child *c, struct error *err)
{
	size_t before;

	do {
		before = c->output.len;
		if (c->out >= 0 && get_output(c, err) < 0)
			return -1;
	} while (c->out >= 0 && c->output.len > before);
	close_fd(&c->out);
	return 0;
}

static void get_notes(struct child *c)
{
	char bytes[4096];
	ssize_t n = io_read(c->errors, bytes, sizeof(bytes));
	size_t room = NOTES_MAX - c->notes.len;

	if (n > 0)
		buf_add(&c->notes, bytes, (size_t)n < room ? (size_t)n : room);
	if (n == 0 || (n < 0 && errno != EAGAIN))
		close_fd(&c->errors);
}

/* One whose guard was killed has nobody who could say how it ended. */
static bool has_ended(struct child *c)
{
	ssize_t n = c->ended ? 0 : io_read(c->report, &c->status, sizeof(c->status));

	if (c->ended || (n < 0 && errno == EAGAIN))
		return c->ended;
	c->ended = true;
	if (n == (ssize_t)sizeof(c->status))
		return true;
	c->status = SIGKILL;
	kill(-c->pid, SIGKILL);
	return true;
}

int child_step(struct child *c, const struct stop *stop, struct error *err)
{
	int64_t left = stop->deadline_ms - clock_mono_ms();
	struct pollfd p[] = {
		{ .fd = stop->cancel_fd, .events = POLLIN },
		{ .fd = c->sending.len > 0 ? c->in : -1, .events = POLLOUT },
		{ .fd = c->out, .events = POLLIN },
		{ .fd = c->errors, .events = POLLIN },
		/* Its output may be held open by what it left behind. */
		{ .fd = c->ended ? -1 : c->report, .events = POLLIN },
	};

	if (left <= 0)
		return error_set(err, ERR_DEADLINE, "%s did not answer in time", c->name);
	if (poll(p, ARRAY_SIZE(p), (int)(left < LONG_MS ? left : LONG_MS)) < 0)
		return 0;
	if (p[0].revents)
		return error_set(err, ERR_CANCELLED, "interrupted while %s worked", c->name);
	if (p[1].revents)
		put(c);
	if (p[3].revents)
		get_notes(c);
	if (p[2].revents)
		return get_output(c, err);
	return has_ended(c) ? get_rest(c, err) : 0;
}

void child_close_input(struct child *c)
{
	close_fd(&c->in);
}

int child_wait(struct child *c, const struct stop *stop, int *ret_status, struct error *err)
{
	while (!has_ended(c))
		if (child_step(c, stop, err) < 0)
			return -1;
	*ret_status = c->status;
	return 0;
}

char *child_notes(const struct child *c)
{
	cleanup_buf struct buf text = BUF_INIT((size_t)1 << 16);
	size_t len = c->notes.len < NOTES_TOLD ? c->notes.len : NOTES_TOLD;

	while (len > 0 && strchr(" \t\r\n", c->notes.data[len - 1]))
		len--;
	if (len > 0)
		buf_addstr(&text, ": ");
	utf8_visible(&text, c->notes.data, len);
	return buf_take(&text, NULL);
}

/* The end of its input says that it is done with; who does not hear is told twice. */
static void ask_to_end(struct child *c)
{
	struct pollfd p = { .fd = c->report, .events = POLLIN };

	if (has_ended(c) || io_write(c->lifeline, "T", 1) < 0)
		return;
	poll(&p, 1, GRACE_MS);
}

void child_end(struct child *c)
{
	close_fd(&c->in);
	if (c->pid > 0)
		ask_to_end(c);
	close_fd(&c->lifeline);
	while (c->guard > 0 && waitpid(c->guard, NULL, 0) < 0 && errno == EINTR)
		continue;
	c->guard = c->pid = 0;
	close_fd(&c->out);
	close_fd(&c->errors);
	close_fd(&c->report);
	buf_release(&c->sending);
	buf_release(&c->output);
	buf_release(&c->notes);
}
