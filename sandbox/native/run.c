/*
 * One run: hand a job to the keeper, carry the guest's output while it runs, and put together what
 * happened. What a program may is not decided here.
 */
#include "sandbox/native/run.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/port.h"
#include "sandbox/native/result.h"
#include "sandbox/packages.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int run_step(struct pump *pumps, size_t count, struct error *err)
{
	struct pollfd fds[2 * PUMP_FDS];
	int wait = 1000;

	for (size_t i = 0; i < count; i++) {
		int own = pump_wait_ms(&pumps[i]);

		pump_poll(&pumps[i], &fds[i * PUMP_FDS]);
		wait = own < wait ? own : wait;
	}
	if (poll(fds, count * PUMP_FDS, wait) < 0 && errno != EINTR)
		return error_set_errno(err, ERR_SANDBOX, errno, "poll");
	for (size_t i = 0; i < count; i++) {
		if (pump_handle(&pumps[i], &fds[i * PUMP_FDS], err) == 0)
			continue;
		if (pump_end_without_keeper(&pumps[i], err) < 0)
			return -1;
		error_clear(err);
	}
	return 0;
}

int run_check_memory(const struct native *s, const struct sandbox_job *job, struct error *err)
{
	if (!s->far || s->far->memory_bytes == 0 ||
	    job->limits.memory_bytes <= s->far->memory_bytes)
		return 0;
	return error_set(err, ERR_USAGE,
			 "a memory limit of %lld MiB cannot be held: this sandbox has %lld MiB "
			 "for a run",
			 (long long)(job->limits.memory_bytes >> 20),
			 (long long)(s->far->memory_bytes >> 20));
}

void run_leave_single(struct native *s)
{
	if (s->hello.single)
		connection_close(s);
}

int run_bare(struct native *s, const struct sandbox_job *job, const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result *ret_result,
	     struct error *err)
{
	int link[2] = { -1, -1 };

	if (run_check_memory(s, job, err) < 0)
		return -1;
	struct pump p;
	pump_init(&p, s, job, watch);
	int status = job->port ? port_open(&p.port, link, err) : 0;
	if (status == 0)
		status = pump_start(&p, interpreter, job->port ? link : NULL, err);
	for (size_t i = 0; i < 2; i++)
		if (link[i] >= 0)
			io_close(link[i]);
	if (status == 0 && watch && watch->handed)
		watch->handed(watch->self);
	while (status == 0 && !p.ended)
		status = run_step(&p, 1, err);
	if (status == 0)
		status = pump_result(&p, ret_result, err);
	pump_release(&p);
	run_leave_single(s);
	return status;
}
