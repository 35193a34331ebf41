/*
 * Processes that each do one replay, so that a crash of one is the end of one. A child
 * writes its report, as JSON, to a pipe; the parent collects. What a child does and what
 * its report means is not known here.
 */
#include "agent/cli/replay/children.h"

#include "agent/cli/app.h"
#include "agent/cli/terminal/term.h"
#include "agent/record/journal.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOBS_MAX   64
#define REPORT_MAX ((size_t)1 << 30)
#define CHUNK	   ((size_t)64 << 10)
#define LOOK_MS	   500 /* at the deadline, while children work */

struct child {
	pid_t pid; /* 0: none */
	int fd;
	size_t at;
	int64_t began_ms;
	struct buf report;
};

struct pool {
	const struct children *what;
	struct child children[JOBS_MAX];
	size_t jobs, next;
	struct stop stop;
	bool stopping;
};

/* --- a child --- */

static void write_error(int fd, const struct error *err)
{
	cleanup_json struct json *object = json_object();

	json_set_string(object, "error", err->message);
	cleanup_free char *text = json_print(object);
	struct error ignored = ERROR_INIT;
	io_write_all(fd, text, strlen(text), &ignored);
}

static void __attribute__((noreturn)) work(const struct children *what, size_t at, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	app_forked(what->settings->app);
	term_set(&what->settings->app->terminal, false, true);
	struct error err = ERROR_INIT;
	int code = what->work(what->self, at, fd, &err);
	if (err.kind != ERR_NONE)
		write_error(fd, &err);
	_exit(code);
}

static int start(struct pool *p, struct child *c, struct error *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "pipe");
	c->at = p->next++;
	c->pid = fork();
	if (c->pid < 0) {
		close(fds[0]);
		close(fds[1]);
		c->pid = 0;
		return error_set_errno(err, ERR_FAILED, errno, "fork");
	}
	if (!c->pid) {
		close(fds[0]);
		work(p->what, c->at, fds[1]);
	}
	close(fds[1]);
	c->fd = fds[0];
	c->began_ms = clock_mono_ms();
	buf_init(&c->report, REPORT_MAX);
	return 0;
}

/* --- its end --- */

static int finish(struct pool *p, struct child *c, struct error *err)
{
	struct child_end end = { .duration_ms = clock_mono_ms() - c->began_ms, .code = -1 };
	cleanup_json struct json *report = NULL;
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	close(c->fd);
	struct error problem = ERROR_INIT;
	if (c->report.len)
		report = json_parse(c->report.data, c->report.len,
				    JSON_BIG_AS_STRING | JSON_NUL_AS_FFFD, &problem);
	buf_release(&c->report);
	if (WIFEXITED(status))
		end.code = WEXITSTATUS(status);
	if (WIFSIGNALED(status))
		end.problem = strsignal(WTERMSIG(status));
	else if (!report)
		end.problem = problem.kind != ERR_NONE ? problem.message : "it told nothing";
	end.report = report;
	return p->stopping ? 0 : p->what->ended(p->what->self, c->at, &end, err);
}

static int receive(struct pool *p, struct child *c, struct error *err)
{
	char chunk[CHUNK];
	ssize_t n = io_read(c->fd, chunk, sizeof(chunk));

	if (n <= 0)
		return finish(p, c, err);
	buf_add(&c->report, chunk, (size_t)n);
	return 0;
}

/* --- all of them --- */

static void stop_all(struct pool *p)
{
	p->stopping = true;
	for (size_t i = 0; i < p->jobs; i++)
		if (p->children[i].pid)
			kill(p->children[i].pid, SIGTERM);
}

/* Starts what there is room for: how many work now, or -1. */
static int fill(struct pool *p, struct error *err)
{
	int busy = 0;

	for (size_t i = 0; i < p->jobs; i++) {
		struct child *c = &p->children[i];

		if (!c->pid && !p->stopping && p->next < p->what->count && start(p, c, err) < 0)
			return -1;
		busy += c->pid != 0;
	}
	return busy;
}

static int do_all(struct pool *p, struct error *err)
{
	int busy;

	while ((busy = fill(p, err)) > 0) {
		struct pollfd fds[JOBS_MAX];

		for (size_t i = 0; i < p->jobs; i++)
			fds[i] = (struct pollfd){ p->children[i].pid ? p->children[i].fd : -1,
						  POLLIN, 0 };
		if (poll(fds, p->jobs, LOOK_MS) < 0 && errno != EINTR)
			return error_set_errno(err, ERR_FAILED, errno, "poll");
		if (!p->stopping && stop_now(&p->stop))
			stop_all(p);
		for (size_t i = 0; i < p->jobs; i++)
			if (fds[i].revents && receive(p, &p->children[i], err) < 0)
				return -1;
		if (p->what->watch)
			p->what->watch(p->what->self);
	}
	return busy < 0 ? -1 : stop_check(&p->stop, err);
}

/* What is left of a failure: nobody asks what these came to. */
static void end_children(struct pool *p)
{
	stop_all(p);
	struct error ignored = ERROR_INIT;
	for (size_t i = 0; i < p->jobs; i++)
		while (p->children[i].pid)
			receive(p, &p->children[i], &ignored);
}

int children_run(const struct children *c, struct error *err)
{
	struct pool p = { .what = c };
	int64_t jobs = 1;

	if (settings_count(c->settings, OPT_JOBS, &jobs, err) < 0)
		return -1;
	p.jobs = jobs < JOBS_MAX ? (size_t)jobs : JOBS_MAX;
	p.stop = journal_stop(c->settings->app->cancel_fd, &c->settings->policy.budget);
	int rc = do_all(&p, err);
	term_status(&c->settings->app->terminal, NULL);
	if (rc < 0)
		end_children(&p);
	return rc;
}
