/*
 * A run from request to result: its limits set, handed to init, watched, measured. Also the one
 * that is begun before there is a request: an interpreter in walls of its own that waits to open
 * its program. It is used once or not at all, and what was made for another request never runs a
 * job; whatever goes wrong before the program is in it, the job starts cold in fresh walls. It is
 * a fork of a template (template.c) where there is one for such a job.
 */
#include "sandbox/native/keeper/job.h"

#include "sandbox/native/keeper/run.h"
#include "sandbox/native/keeper/standby.h"
#include "sandbox/native/keeper/template.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The one that goes on, or waits: there is never more than one. */
static struct run run;
static struct ledger ledger;
/* After which what waits is let go of, by the last that was prepared. */
static int64_t idle_ms;

/* --- begin --- */

int run_check_file_size(const struct keeper *k, int64_t bytes, struct protocol_failure *failure)
{
	if (k->file_size >= bytes)
		return 0;
	errno = 0;
	return failure_set(
		failure, "the limit on file sizes here is below the disk limit",
		"it is inherited: raise it with `ulimit -f unlimited` (in bash, before assay "
		"is started; a hard limit is in /etc/security/limits.conf), or give a "
		"smaller --disk");
}

static int set_limits(struct run *r)
{
	struct keeper *k = r->keeper;

	if (run_check_file_size(k, r->request->limits.disk_bytes, &r->result.failure) < 0 ||
	    crash_check(&k->crash, &r->result.failure) < 0)
		return -1;
	if (run_limit_groups(r) < 0)
		return failure_set(&r->result.failure, "set the limits of the control group",
				   "is the memory limit below what the kernel itself needs?");
	r->oom_base = cgroups_oom_kills(&k->cgroups);
	r->pids_base = cgroups_pids_refused(&k->cgroups);
	r->pids_peak_base = cgroups_pids_peak(&k->cgroups);
	return 0;
}

static struct launch launch_of(const struct run *r)
{
	const struct keeper *k = r->keeper;

	return (struct launch){ .limits = r->request->limits,
				.filter = k->hello.filter,
				.landlock_abi = k->hello.landlock_abi,
				.limit_data = !k->hello.memory_cgroup,
				.pids_cgroup = k->hello.pids_cgroup,
				.ours = (uint32_t)r->ours_pids,
				.lease_ms = k->lease_ms,
				.waits = r->waits,
				.forks = r->forks,
				.holds = r->stays };
}

static int hand_over(struct run *r, const int *fds, size_t count)
{
	const struct keeper *k = r->keeper;
	const struct launch launch = launch_of(r);

	if (message_send(k->launcher.events, &launch, sizeof(launch), fds, count) < 0)
		return failure_set(&r->result.failure, "hand over the run", "");
	return 0;
}

/* One that is to be forked gets its descriptors with the program. */
static int start(struct run *r, const int *fds)
{
	size_t count = r->forks			     ? 1 :
		       fds[PROTOCOL_FD_LINK_OUT] < 0 ? PROTOCOL_PLAIN_FDS :
						       PROTOCOL_RUN_FDS;

	if (standby_ensure(r->keeper, &r->request->limits) < 0)
		return failure_set(&r->result.failure, "start the launcher", "");
	return set_limits(r) < 0 ? -1 : hand_over(r, fds, count);
}

static void begin(struct run *r, struct keeper *k, const struct protocol_request *request)
{
	*r = (struct run){ .keeper = k,
			   .request = request,
			   .result.kind = PROTOCOL_RESULT,
			   .pidfd = -1,
			   .go = -1,
			   .stays = request->state != 0,
			   .out = -1,
			   .proc = -1,
			   .mounts = -1,
			   .ledger = &ledger,
			   .cpu_base = { .total_us = -1 } };
	r->grants = (struct grants){ .counts_pids = !k->hello.pids_cgroup,
				     .counts_memory = !k->hello.memory_cgroup,
				     .proc = -1,
				     .pids = 1,
				     .processes = request->limits.processes,
				     .memory_bytes = request->limits.memory_bytes };
	r->notify = (struct notify){
		.listener = -1, .result = &r->result, .grants = &r->grants, .ledger = r->ledger
	};
	if (!k->hello.cpu_count_cgroup)
		ledger_start(r->ledger, k->processors, now_us());
}

/* --- end --- */

/* What nobody waited for is in the group's figures, or was in those we saw last. */
static void measure_cpu(struct run *r)
{
	struct protocol_result *result = &r->result;
	int64_t booked = ledger_us(r->ledger);

	result->user_us = run_us(r->rusage.ru_utime);
	result->system_us = run_us(r->rusage.ru_stime);
	struct cpu_time used;
	if (r->cpu_base.total_us >= 0 &&
	    cgroups_cpu_since(&r->keeper->cgroups, &r->cpu_base, &used) == 0) {
		result->user_us = used.user_us;
		result->system_us = used.system_us;
	} else if (r->peak.user_us + r->peak.system_us > result->user_us + result->system_us) {
		result->user_us = r->peak.user_us;
		result->system_us = r->peak.system_us;
	}
	int64_t sum = result->user_us + result->system_us;
	if (booked > sum) { /* nobody knows of which kind the rest was */
		result->user_us =
			sum > 0 ?
				(int64_t)((double)booked * (double)result->user_us / (double)sum) :
				booked;
		result->system_us = booked - result->user_us;
	}
}

static void measure(struct run *r)
{
	const struct cgroups *c = &r->keeper->cgroups;
	struct protocol_result *result = &r->result;
	int64_t pids = cgroups_pids_peak(c), memory = cgroups_memory_peak(c);

	/* A peak of an earlier run hides a lower one: then what we saw. */
	if (pids > r->pids_peak_base)
		r->peak.pids = pids - WALL_PIDS - r->ours_pids;

	result->wall_us = r->started_us != 0 ? r->ended_us - r->started_us : 0;
	measure_cpu(r);
	if (memory >= 0)
		result->peak_memory_bytes = memory - r->request->input_bytes - r->ours_bytes;
	else
		result->peak_memory_bytes = r->peak.memory_bytes > r->rusage.ru_maxrss * 1024 ?
						    r->peak.memory_bytes :
						    r->rusage.ru_maxrss * 1024;
	result->peak_pids = r->peak.pids > 0 ? r->peak.pids : -1;
	result->written_bytes = -1;
	run_look_at_disk(r);
	result->oom_kills = cgroups_oom_kills(c) - r->oom_base;
	if (r->keeper->hello.pids_cgroup)
		result->pids_refused = cgroups_pids_refused(c) - r->pids_base;
	else
		result->pids_refused = r->grants.forks_refused;
	result->memory_refused = r->grants.shared_refused;
}

/* Whoever has the launcher's socket now must have read all that was sent. */
static void finish(struct run *r, bool all_read)
{
	struct keeper *k = r->keeper;
	const struct standby next = { .disk_bytes = r->request->limits.disk_bytes,
				      .inodes = r->request->limits.inodes,
				      .fresh_net = !r->request->last && r->started_us != 0 &&
						   !standby_net_is_clean(k) };

	k->ordered = false;
	if (all_read && !r->request->last)
		standby_order(k, &next);
	else
		standby_discard(k);
	/* Letting go of the mounts takes a while: everybody else goes on. */
	close_all((int[]){ r->pidfd, r->out, r->proc, r->notify.listener, r->mounts, r->go }, 6);
	while (waitpid(-1, NULL, WNOHANG | __WNOTHREAD) > 0)
		;
}

/* Those that stood still while it lasted. */
static void let_templates_start(struct run *r)
{
	if (template_after_run() && run_limit_groups(r) == 0)
		template_go_on();
}

/* --- a context --- */

/* It is over, with all states. */
static void drop_context(struct keeper *k)
{
	struct run *r = &run;

	if (!k->keeps)
		return;
	k->keeps = false;
	memset(r->slots, 0, sizeof(r->slots));
	memset(&r->result, 0, sizeof(r->result));
	r->client_gone = true; /* no order is about this one */
	r->holds = (struct holder){ .pid = 0 };
	r->over_us = 0;
	if (!r->reaped) {
		run_kill(r, PROTOCOL_KILL_CANCELLED);
		run_watch(r);
	}
	finish(r, r->reaped);
	let_templates_start(r);
}

/* The same init, another guest: its time, its CPU time. Memory and files are of all of them. */
static void begin_copy(struct run *r, const struct protocol_request *request)
{
	r->request = request;
	memset(&r->result, 0, sizeof(r->result));
	r->result.kind = PROTOCOL_RESULT;
	r->result.start = PROTOCOL_COPIED;
	memset(&r->peak, 0, sizeof(r->peak));
	memset(&r->thrash, 0, sizeof(r->thrash));
	r->holds = (struct holder){ .pid = 0 };
	r->over = r->started = false;
	r->ready = true; /* its folders are known */
	r->notify.foreign = false;
	r->over_us = r->kill_us = r->ended_us = 0;
}

static void run_copy(struct run *r, const int *fds)
{
	struct keeper *k = r->keeper;

	if (set_limits(r) < 0)
		return;
	if (cgroups_cpu(&k->cgroups, &r->cpu_base) < 0)
		r->cpu_base.total_us = -1;
	r->started_us = r->look_us = r->disk_us = now_us();
	if (held_fork(r, fds) == 0)
		run_watch(r);
	if (r->result.failure.step[0] == '\0')
		return;
	held_drop(r, r->request->from - 1); /* and whatever it may have made */
	held_strike(r);
}

/* False: it is none of a context. Whatever is kept of another is over then. */
static bool run_in_context(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	if (request->from == 0) {
		drop_context(k);
		return false;
	}
	if (!k->keeps) {
		begin(&run, k, request);
		failure_set(&run.result.failure, "the state is not kept any more", "");
		return true;
	}
	begin_copy(&run, request);
	run_copy(&run, fds);
	return true;
}

/* What the run leaves is kept, for others to start from. */
static bool keep_context(struct run *r)
{
	struct keeper *k = r->keeper;

	k->keeps = !r->client_gone && !r->reaped && r->born && r->stays;
	if (!k->keeps)
		return false;
	held_settle(r);
	r->prepared = *r->request; /* which is not ours for long */
	r->request = &r->prepared;
	return true;
}

/* --- one that waits --- */

/* Not before init has read what it was sent: that, left for the next one, would cost a
 * launcher. It is a moment; the guest may still be starting. */
static void drop(struct keeper *k)
{
	struct run *r = &run;

	k->waiting = false;
	r->client_gone = true; /* no order is about this one */
	run_until_ready(r);
	if (!r->reaped) {
		run_kill(r, PROTOCOL_KILL_CANCELLED);
		run_watch(r);
	}
	finish(r, r->ready);
}

static void begin_waiting(struct keeper *k, const struct protocol_request *request, bool forks)
{
	struct run *r = &run;

	begin(r, k, request);
	r->prepared = *request;
	r->request = &r->prepared;
	r->waits = true;
	r->forks = forks;
}

/* Where the job is there already, one that still starts is waited for. */
static bool has_template(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	if (standby_ensure(k, &request->limits) < 0)
		return false;
	if (template_serves(k, fds))
		return true;
	begin_waiting(k, request, true);
	return request->soon && set_limits(&run) == 0 && template_await();
}

/* By the time this returns it is there: what the template does is no run's, and is done. */
static bool fork_waiting(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	struct run *r = &run;

	if (!has_template(k, request, fds))
		return false;
	begin_waiting(k, request, true);
	if (start(r, fds) < 0) {
		standby_discard(k);
		return false;
	}
	struct launch launch = launch_of(r);
	if (run_until_ready(r) &&
	    template_fork(k, r->pidfd, &launch, &r->go, &r->notify.listener) == 0)
		return true;
	drop(k);
	return false;
}

/* What it takes while it starts is not the run's that waits. */
static void order_template(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	if (standby_ensure(k, &request->limits) < 0 || template_serves(k, fds))
		return;
	if (!k->waiting)
		begin_waiting(k, request, true);
	run_limit_groups(&run);
}

void job_prepare(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	if (request->only_template) {
		idle_ms = request->idle_ms;
		if (!k->keeps)
			order_template(k, request, fds);
		return;
	}
	drop_context(k);
	if (k->waiting)
		drop(k);
	idle_ms = request->idle_ms;
	k->waiting = request->forks && fork_waiting(k, request, fds);
	if (k->waiting || request->linked)
		return;
	begin_waiting(k, request, false);
	if (start(&run, fds) == 0)
		k->waiting = true;
	else
		standby_discard(k);
}

void job_drop(struct keeper *k, const struct protocol_request *request)
{
	if (!k->keeps)
		return;
	held_drop(&run, request->from - 1);
	if (!run_has_states(&run))
		drop_context(k);
}

void job_idle(struct keeper *k)
{
	if (k->keeps && !run_keep(&run))
		drop_context(k);
	if (k->waiting && !run_idle(&run))
		drop(k);
	template_idle(k, idle_ms);
}

/* The wall is the keeper's alone, and may be another. */
static bool is_made_for(const struct run *r, const struct protocol_request *request)
{
	struct protocol_limits made = r->prepared.limits;

	made.wall_ms = request->limits.wall_ms;
	return request->waiting && (request->forks || !r->forks) &&
	       !memcmp(&made, &request->limits, sizeof(made));
}

/* From here on it is the job's: its time, its CPU time, its memory, its processes. Where
 * no group counts, the interpreter's start is in the figures, as in those of a cold one. */
static void resume(struct run *r, const int *fds)
{
	struct keeper *k = r->keeper;

	r->waits = false;
	if (set_limits(r) < 0)
		return;
	if (cgroups_cpu(&k->cgroups, &r->cpu_base) < 0)
		r->cpu_base.total_us = -1;
	if (!k->hello.cpu_count_cgroup)
		ledger_start(r->ledger, k->processors, now_us());
	r->started_us = r->look_us = now_us();
	int status;
	if (r->forks)
		status = hand_over(r,
				   (int[]){ fds[PROTOCOL_FD_PAYLOAD], fds[PROTOCOL_FD_INPUTS],
					    fds[PROTOCOL_FD_ENVIRONMENT], fds[PROTOCOL_FD_STDIN],
					    fds[PROTOCOL_FD_STDOUT], fds[PROTOCOL_FD_STDERR], r->go,
					    fds[PROTOCOL_FD_LINK_IN], fds[PROTOCOL_FD_LINK_OUT] },
				   fds[PROTOCOL_FD_LINK_OUT] < 0 ? GO_LINK_IN : GO_FDS);
	else
		status = hand_over(r, fds, PROTOCOL_FD_STDIN); /* it has the others */
	close_all(&r->go, 1);
	if (status == 0)
		run_watch(r);
}

/* A fork says so itself before the first instruction that is not ours: init may not have told
 * us, and the job must never run again. */
static bool has_run(const struct run *r)
{
	struct pollfd told = { .fd = PROTOCOL_STARTED_FD, .events = POLLIN };

	return r->started || (r->forks && poll(&told, 1, 0) != 0);
}

/* False: nothing of the job has run, and the keeper is as before the one that waited. */
static bool run_waiting(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	struct run *r = &run;

	if (!k->waiting)
		return false;
	if (!is_made_for(r, request)) {
		drop(k);
		return false;
	}
	k->waiting = false;
	r->request = request;
	r->result.start = r->forks ? PROTOCOL_FORKED : PROTOCOL_WAITED;
	resume(r, fds);
	if (has_run(r) || r->result.reason != PROTOCOL_NOT_KILLED)
		return true;
	r->client_gone = true;
	if (r->born && !r->reaped) {
		run_kill(r, PROTOCOL_KILL_CANCELLED);
		run_watch(r);
	}
	finish(r, false);
	return false;
}

/* --- one job --- */

static void attempt(struct run *r, const int *fds)
{
	if (start(r, fds) == 0)
		run_watch(r);
}

/* The launcher died, as for the memory that the run before had not given back yet,
 * and the kernel says that nobody had read what we sent. */
static bool is_unheard(const struct run *r)
{
	return !r->born &&
	       (r->result.failure.errnum == ECONNRESET || r->result.failure.errnum == EPIPE);
}

int run_job(struct keeper *k, const struct protocol_request *request, const int *fds)
{
	struct run *r = &run;

	template_before_run();
	if (!run_in_context(k, request, fds) && !run_waiting(k, request, fds)) {
		begin(r, k, request);
		attempt(r, fds);
		if (is_unheard(r)) {
			standby_discard(k);
			memset(&r->result.failure, 0, sizeof(r->result.failure));
			attempt(r, fds);
		}
	}
	if (request->last && r->reaped)
		standby_dismiss(k);
	measure(r);
	r->result.no_template = template_failure();
	r->result.memory_now_bytes = cgroups_memory_now(&k->cgroups);
	int status = r->client_gone ? -1 :
				      message_send(k->client, &r->result, sizeof(r->result),
						   &r->out, r->out >= 0);
	if (keep_context(r))
		return status;
	finish(r, r->started); /* it took the job, and was its only reader */
	let_templates_start(r);
	return status;
}
