/*
 * A server that is replaced when it crashes (supervise.h). The process that was started keeps the
 * socket and what was read before anything was served, and forks the server. It waits for two
 * things: a signal, which it hands on as a byte, and the end of the server, which closes the other
 * end of that. Signals that others send to the server itself (a terminal to its group, a service
 * manager to all of a service) would else count twice.
 */
#include "agent/cli/doors/supervise.h"

#include "agent/cli/exit_code.h"
#include "agent/cli/signals.h"
#include "agent/cli/terminal/term.h"
#include "base/clock.h"
#include "base/io.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEATHS_MAX 5
#define DEATHS_MS  60000 /* within which so many are too many */

struct supervisor {
	struct app *app;
	int *listen_fd;
	pid_t pid;
	int orders; /* to the server: a byte for each signal */
	bool ending;
	unsigned died;
	int64_t died_ms[DEATHS_MAX]; /* when, each in its turn */
};

static int start(struct supervisor *s, struct supervised *ret, struct error *err)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "socketpair");
	s->pid = fork();
	if (!s->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_TERMINATED);
		io_close(pair[0]);
		app_led(s->app, pair[1]);
		*ret = (struct supervised){ .serves = true, .died = s->died };
		return 0;
	}
	io_close(pair[1]);
	s->orders = pair[0];
	if (s->pid > 0)
		return 0;
	error_set_errno(err, ERR_FAILED, errno, "fork");
	io_close(pair[0]);
	return -1;
}

/* The first ends it when all is answered, the second at once; the third is this process's own end,
 * which the server does not outlive (on_signal). */
static void hand_on(struct supervisor *s, struct pollfd *signalled)
{
	if (!s->ending) {
		command_signal_clear();
		io_close(*s->listen_fd);
		*s->listen_fd = -1;
	} else {
		signalled->fd = -1;
	}
	s->ending = true;
	(void)!io_write(s->orders, "", 1);
}

/* Until the server has ended; how. */
static int watch(struct supervisor *s)
{
	struct pollfd fds[2] = { { .fd = s->app->cancel_fd, .events = POLLIN },
				 { .fd = s->orders, .events = POLLIN } };

	while (!fds[1].revents) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[0].revents)
			hand_on(s, &fds[0]);
	}
	io_close(s->orders);
	int status = 0;
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static void note_death(struct supervisor *s)
{
	s->died_ms[s->died++ % DEATHS_MAX] = clock_mono_ms();
}

/* The oldest that is noted stands where the next one will. */
static bool died_too_often(const struct supervisor *s)
{
	int64_t last = s->died_ms[(s->died + DEATHS_MAX - 1) % DEATHS_MAX];

	return s->died >= DEATHS_MAX && last - s->died_ms[s->died % DEATHS_MAX] < DEATHS_MS;
}

/* Whether another is to be started after one that a signal ended. */
static int follow(struct supervisor *s, int number, struct error *err)
{
	if (s->ending)
		return error_set(err, ERR_FAILED,
				 "the server died while it ended (signal %d, %s): what was under "
				 "way is lost, and unfinished in the log",
				 number, strsignal(number));
	note_death(s);
	if (died_too_often(s))
		return error_set(err, ERR_FAILED,
				 "the server died %d times within a minute, at last by signal %d "
				 "(%s): no other is started; the log has the programs that it ran "
				 "then as unfinished",
				 DEATHS_MAX, number, strsignal(number));
	term_error(&s->app->terminal,
		   "the server died (signal %d, %s): what was under way is lost, and unfinished in "
		   "the log; another one takes its place",
		   number, strsignal(number));
	return 0;
}

int supervise(struct app *app, int *listen_fd, struct supervised *ret, struct error *err)
{
	struct supervisor s = { .app = app, .listen_fd = listen_fd };

	*ret = (struct supervised){ .serves = false };
	signal(SIGCHLD, SIG_DFL); /* ignored by who started us, its end would be told as 0 */
	for (;;) {
		if (start(&s, ret, err) < 0)
			return -1;
		if (ret->serves)
			return 0;
		int status = watch(&s);
		if (!WIFSIGNALED(status)) {
			ret->code = WEXITSTATUS(status);
			return 0;
		}
		if (follow(&s, WTERMSIG(status), err) < 0)
			return -1;
	}
}
