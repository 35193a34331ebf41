/*
 * A program of the user's beside assay (child.h). It has a process group with a guard of ours,
 * which is killed when it is done with, and by the guard when assay is gone, however it went. No
 * call here waits on one descriptor alone. No program of a model's or a guest's is ever started
 * here: commands come from the configuration, arguments as bytes on a pipe.
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
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOTES_MAX   ((size_t)4096)
#define NOTES_TOLD  400
#define LOOK_MS	    20	/* where there is no pidfd */
#define GRACE_MS    300 /* between SIGTERM and SIGKILL */
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

/* Waits for the end of what only assay holds, deaf to all that ends assay by a signal. */
static _Noreturn void guard(int lifeline)
{
	char nothing;

	if (setpgid(0, 0) == 0 && dup2(lifeline, STDIN_FILENO) >= 0 &&
	    syscall(SYS_close_range, 1u, ~0u, 0u) == 0 && io_read(STDIN_FILENO, &nothing, 1) == 0)
		kill(0, SIGKILL);
	_exit(1);
}

/* Before what it guards, so that there is no moment without. errno, or 0. */
static int start_guard(struct child *c)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return errno;
	sigset_t all;
	sigfillset(&all);
	sigset_t before;
	sigprocmask(SIG_SETMASK, &all, &before);
	c->guard = fork();
	if (c->guard == 0)
		guard(ends[0]);
	int rc = 0;
	/* It does so itself, too: whoever is first. */
	if (c->guard < 0 || setpgid(c->guard, c->guard) < 0)
		rc = errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	io_close(ends[0]);
	c->lifeline = ends[1];
	if (c->guard < 0)
		c->guard = 0;
	return rc;
}

static int spawn(struct child *c, char **argv, const char *env_names, const int fds[3])
{
	cleanup_free char **env = make_environ(env_names);
	posix_spawnattr_t attr;

	spawn_attributes(&attr, c->guard);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	posix_spawn_file_actions_addclosefrom_np(&actions, 3); /* whoever started assay left some */
	int rc = posix_spawnp(&c->pid, argv[0], &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	if (rc != 0)
		c->pid = 0;
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
			       .pid_fd = -1,
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
		rc = start_guard(ret);
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
	ret->pid_fd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
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

static bool has_ended(const struct child *c)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid != 0;
}

static int wait_ms(const struct child *c, int64_t left)
{
	int64_t most = c->pid_fd >= 0 ? 60000 : LOOK_MS;

	return (int)(left < most ? left : most);
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
		{ .fd = c->pid_fd, .events = POLLIN },
	};

	if (left <= 0)
		return error_set(err, ERR_DEADLINE, "%s did not answer in time", c->name);
	if (poll(p, ARRAY_SIZE(p), wait_ms(c, left)) < 0)
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

static void reap(pid_t *pid, int *ret_status)
{
	while (waitpid(*pid, ret_status, 0) < 0 && errno == EINTR)
		continue;
	*pid = 0;
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
	reap(&c->pid, ret_status);
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
static void ask_to_end(const struct child *c)
{
	struct pollfd p = { .fd = c->pid_fd, .events = POLLIN };

	if (has_ended(c))
		return;
	kill(-c->guard, SIGTERM);
	poll(&p, c->pid_fd >= 0, GRACE_MS);
}

/* The guard is reaped last: until then its process group cannot be anybody else's. */
void child_end(struct child *c)
{
	close_fd(&c->in);
	if (c->pid > 0)
		ask_to_end(c);
	if (c->guard > 0)
		kill(-c->guard, SIGKILL);
	if (c->pid > 0)
		reap(&c->pid, NULL);
	if (c->guard > 0)
		reap(&c->guard, NULL);
	close_fd(&c->lifeline);
	close_fd(&c->out);
	close_fd(&c->errors);
	close_fd(&c->pid_fd);
	buf_release(&c->sending);
	buf_release(&c->output);
	buf_release(&c->notes);
}
