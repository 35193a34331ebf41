/*
 * native_run: hand a job to the keeper, carry the guest's output while it
 * runs, and put together what happened. native_run_pair: two at once.
 * What a program may is not decided here.
 */
#include "sandbox/native/pump.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/packages.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define FOLLOW_MS 2000 /* for the program, when its judge has ended */

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

/* A limit that the place where it runs cannot hold, it does not have. */
static int check_memory(const struct native *s, const struct sandbox_job *job, struct error *err)
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

/* What serves one run has served it. */
static void leave_single(struct native *s)
{
	if (s->hello.single)
		connection_close(s);
}

int run_bare(struct native *s, const struct sandbox_job *job, const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result *ret_result,
	     struct error *err)
{
	int link[2] = { -1, -1 };

	if (check_memory(s, job, err) < 0)
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
	leave_single(s);
	return status;
}

static int find_interpreter(struct native *s, const struct language *language,
			    struct sandbox_environment *ret, struct error *err)
{
	if (native_describe(s, language, ret, err) < 0)
		return -1;
	if (!ret->interpreter)
		return error_set(err, ERR_SANDBOX,
				 "%s is not installed: none of its interpreters "
				 "is below /usr or /bin",
				 language->name);
	return 0;
}

int native_run(struct native *s, const struct sandbox_job *job, const struct sandbox_watch *watch,
	       struct sandbox_result *ret_result, struct error *err)
{
	struct sandbox_environment environment;
	struct sandbox_job again = *job;

	if (find_interpreter(s, job->language, &environment, err) < 0)
		return -1;
	if (context_takes(s, job))
		return context_run(s, job, environment.interpreter, watch, ret_result, err);
	again.limits.wall_ms += job->rebuild_ms;
	again.limits.cpu_ms += job->rebuild_ms;
	if (run_bare(s, &again, environment.interpreter, watch, ret_result, err) < 0)
		return -1;
	if (job->port)
		return 0;
	foresight_note(s, job, 1, environment.interpreter);
	return 0;
}

void native_prepare(struct native *s, const struct sandbox_job *job)
{
	struct sandbox_environment environment;
	struct error ignored = ERROR_INIT;

	if (s->warm > 0 && find_interpreter(s, job->language, &environment, &ignored) == 0)
		waiting_prepare(s, job, environment.interpreter, NULL);
}

void native_foresee(struct native *s, const struct sandbox_job *job,
		    const struct sandbox_hint *hint)
{
	unsigned packages = packages_spoken_of(job->language, hint->text, hint->len);

	for (const char *const *p = hint->programs; p && *p && packages == 0; p++)
		packages = packages_imported(job->language, *p, strlen(*p));
	struct sandbox_environment environment;
	struct error ignored = ERROR_INIT;

	if (packages != 0 && s->warm > 0 && !s->once &&
	    find_interpreter(s, job->language, &environment, &ignored) == 0)
		waiting_expect(s, job, environment.interpreter, packages);
}

/* --- a pair --- */

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

void native_prepare_pair(struct native *s, const struct sandbox_job jobs[2],
			 const char *interpreter)
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

int native_run_pair(struct native *s, const struct sandbox_job jobs[2],
		    const struct sandbox_watch *watch, struct sandbox_result ret_results[2],
		    struct error *err)
{
	const struct sandbox_watch quiet = { .cancel_fd = !watch ? -1 : watch->cancel_fd };
	struct sandbox_environment environment;

	if (check_memory(s, &jobs[0], err) < 0 || check_memory(s, &jobs[1], err) < 0 ||
	    find_interpreter(s, jobs[0].language, &environment, err) < 0 ||
	    connection_second(s, err) < 0)
		return -1;
	waiting_prepare_first_pair(s, jobs, environment.interpreter);
	struct pump pumps[2];
	pump_init(&pumps[0], s, &jobs[0], watch);
	pump_init(&pumps[1], s->second, &jobs[1], &quiet);
	int status = run_pair(pumps, environment.interpreter, ret_results, err);
	pump_release(&pumps[0]);
	pump_release(&pumps[1]);
	leave_single(s);
	leave_single(s->second);
	if (status == 0)
		foresight_note(s, jobs, 2, environment.interpreter);
	return status;
}
