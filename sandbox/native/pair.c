/*
 * Two runs at once, joined by two pipes: a program and its judge, each with a keeper of its own.
 * Which of them is believed is not decided here.
 */
#include "sandbox/native/pair.h"

#include "base/clock.h"
#include "base/io.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/open.h"
#include "sandbox/native/pump.h"
#include "sandbox/native/result.h"
#include "sandbox/native/run.h"
#include "sandbox/native/standby.h"
#include "sandbox/native/waiting.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FOLLOW_MS 2000 /* for the program, when its judge has ended */

/* Each side's ends: what it reads, what it writes. */
static int make_link(int ends[2][2], struct error *err)
{
	int there[2] = { -1, -1 }, back[2];

	if (pipe2(there, O_CLOEXEC) < 0 || pipe2(back, O_CLOEXEC) < 0) {
		error_set_errno(err, ERR_SANDBOX, errno, "pipe");
		for (size_t i = 0; i < 2; i++)
			if (there[i] >= 0)
				io_close(there[i]);
		return -1;
	}
	ends[0][0] = back[0];
	ends[0][1] = there[1];
	ends[1][0] = there[0];
	ends[1][1] = back[1];
	return 0;
}

static void close_link(int ends[2][2])
{
	for (size_t i = 0; i < 4; i++)
		io_close(ends[i / 2][i % 2]);
}

void pair_prepare(struct native *s, const struct sandbox_job jobs[2], const char *interpreter)
{
	if (waiting_can_fork_pair(s, jobs)) {
		waiting_prepare_half(s->second, &jobs[1], interpreter);
		waiting_prepare_half(s, &jobs[0], interpreter);
		return;
	}
	struct error ignored = ERROR_INIT;
	int ends[2][2];
	if (make_link(ends, &ignored) < 0)
		return;
	/* The one that rules first: where it cannot wait, the other would in vain. */
	waiting_prepare(s->second, &jobs[1], interpreter, ends[1]);
	if (s->second->waiting)
		waiting_prepare(s, &jobs[0], interpreter, ends[0]);
	close_link(ends);
}

/* Those that wait are joined already, to each other: both are used, or neither. Forks are not:
 * they get the ends with the job, as one that starts cold does. */
static int take_link(const struct pump *pumps, const char *interpreter, int ends[2][2],
		     struct error *err)
{
	bool suits = true, joined = true;

	for (size_t i = 0; i < 2; i++) {
		suits &= waiting_suits(pumps[i].native, pumps[i].job, interpreter, true);
		joined &= pumps[i].native->waiting &&
			  pumps[i].native->waiting->fds[PROTOCOL_FD_LINK_IN] >= 0;
	}
	for (size_t i = 0; i < 2; i++) {
		if (!suits || !joined) {
			waiting_release_joined(pumps[i].native);
			continue;
		}
		ends[i][0] = TAKE_FD(pumps[i].native->waiting->fds[PROTOCOL_FD_LINK_IN]);
		ends[i][1] = TAKE_FD(pumps[i].native->waiting->fds[PROTOCOL_FD_LINK_OUT]);
	}
	return suits && joined ? 0 : make_link(ends, err);
}

/* The judge first: it waits for the program's first words, so neither is late.
 * Our own copies of the ends would keep either from seeing the other's end. */
static int start_pair(struct pump *pumps, const char *interpreter, struct error *err)
{
	int ends[2][2];

	if (take_link(pumps, interpreter, ends, err) < 0)
		return -1;
	int status = pump_start(&pumps[1], interpreter, ends[1], err);
	if (status == 0)
		status = pump_start(&pumps[0], interpreter, ends[0], err);
	close_link(ends);
	return status;
}

static int run_to_end(struct pump *pumps, struct error *err)
{
	int64_t until = 0;

	while (!pumps[0].ended || !pumps[1].ended) {
		if (run_step(pumps, 2, err) < 0)
			return -1;
		if (!pumps[1].ended || pumps[0].ended)
			continue;
		if (until == 0)
			until = clock_mono_ms() + FOLLOW_MS;
		else if (clock_mono_ms() > until)
			pump_kill(&pumps[0], PROTOCOL_KILL_CANCELLED);
	}
	return 0;
}

/* What was not told of dies with its keeper: nothing of a failed pair goes on. */
static void abandon(struct pump *p)
{
	bool ran;

	if (!p->ended && p->native->keeper != 0)
		connection_kill(p->native, &ran);
}

static int run_pair(struct pump *pumps, const char *interpreter, struct sandbox_result ret[2],
		    struct error *err)
{
	struct sandbox_result program = { .exit_code = -1 };

	if (start_pair(pumps, interpreter, err) < 0 || run_to_end(pumps, err) < 0) {
		abandon(&pumps[0]);
		abandon(&pumps[1]);
		return -1;
	}
	if (pump_result(&pumps[0], &program, err) < 0)
		return -1;
	if (pump_result(&pumps[1], &ret[1], err) < 0) {
		sandbox_result_release(&program);
		return -1;
	}
	ret[0] = program;
	return 0;
}

int pair_run(struct native *s, const struct sandbox_job jobs[2], const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
	     struct error *err)
{
	const struct sandbox_watch quiet = { .cancel_fd = !watch ? -1 : watch->cancel_fd };

	if (native_second(s, err) < 0)
		return -1;
	waiting_prepare_first_pair(s, jobs, interpreter);
	struct pump pumps[2];
	pump_init(&pumps[0], s, &jobs[0], watch);
	pump_init(&pumps[1], s->second, &jobs[1], &quiet);
	int status = run_pair(pumps, interpreter, ret_results, err);
	pump_release(&pumps[0]);
	pump_release(&pumps[1]);
	run_leave_single(s);
	run_leave_single(s->second);
	return status;
}
