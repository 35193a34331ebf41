/*
 * One run, watched: what init and the guest report, what the limits say, what assay
 * orders. All waiting is in one poll: the client, the launcher's socket (on which init
 * and the guest report too), denied calls, and the end of init. Nothing here begins a
 * run or says what came of it: job.c.
 */
#include "sandbox/native/keeper/run.h"
#include "sandbox/native/keeper/template.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#define SUPERVISE_US	   10000   /* between looks where no group counts */
#define SUPERVISE_SHARE	   8	   /* a look may take one part in so many of a processor */
#define MAPS_US		   250000  /* between looks at how many maps there are */
#define TELL_US		   1000000 /* between two words of what is used */
#define CPU_LOOK_MIN_US	   2000
#define DISK_LOOK_MIN_US   250
#define DISK_IDLE_US	   2000 /* while nothing is written */
#define DISK_BYTES_PER_US  4000 /* as fast as a disk in memory can be filled */
#define DISK_INODES_PER_US 1
#define KILL_AGAIN_US	   10000  /* to those that came after */
#define KILL_OTHERS_US	   1000	  /* the same, where init lives on */
#define KILL_GROUP_US	   100000 /* what does not die of that dies with the group */
#define KILL_CONTEXT_US \
	2000000 /* where nobody is born meanwhile, what has to die needs only time */
#define MANY 32 /* left behind: more than die at once on one processor */

enum { POLL_CLIENT, POLL_LAUNCHER, POLL_INIT, POLL_NOTIFY, POLL_COUNT };

bool run_has_states(const struct run *r)
{
	for (size_t i = 0; r->stays && i < PROTOCOL_STATES_MAX; i++)
		if (r->slots[i].pid > 0)
			return true;
	return r->stays && r->holds.pid > 0;
}

/*
 * Init first: the kernel then kills the rest. But init must get a processor for
 * that, and what it shares one with are the guest's, so they are killed
 * besides, one by one; the last resort takes the launcher with it.
 */
static void strike(struct run *r)
{
	int64_t now = now_us();

	if (r->over_us == 0)
		r->over_us = now;
	r->kill_us = now + KILL_AGAIN_US;
	/* Of a context, what holds a state lives on: unless the rest does not die of that. */
	if (run_has_states(r) && now - r->over_us < KILL_CONTEXT_US) {
		cgroups_lift_quota(&r->keeper->cgroups);
		r->kill_us = now + KILL_OTHERS_US;
		held_strike(r);
		return;
	}
	if (r->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, r->pidfd, SIGKILL, NULL, 0);
	if (r->proc >= 0)
		supervise_kill(r->proc);
	if (now - r->over_us >= KILL_GROUP_US)
		cgroups_kill(&r->keeper->cgroups);
}

void run_kill(struct run *r, enum protocol_reason reason)
{
	if (r->result.has_status)
		return; /* it ended by itself first */
	if (r->result.reason == PROTOCOL_NOT_KILLED)
		r->result.reason = reason;
	cgroups_lift_quota(&r->keeper->cgroups);
	strike(r);
}

/* Nothing of the kernel remembers a disk that was full. One that is made free again
 * at once, as by a program that cleans up after its failure, is seen when somebody
 * looks while it is full: so the next look is before it can be. */
void run_look_at_disk(struct run *r)
{
	r->disk_us = INT64_MAX;
	struct statfs fs;
	if (r->out < 0 || fstatfs(r->out, &fs) < 0)
		return;
	int64_t least = DISK_LOOK_MIN_US;
	if (fs.f_bfree == r->disk.f_bfree && fs.f_ffree == r->disk.f_ffree)
		least = DISK_IDLE_US;
	r->disk = fs;
	r->result.written_bytes = (int64_t)(fs.f_blocks - fs.f_bfree) * (int64_t)fs.f_bsize;
	if (fs.f_bfree == 0 || fs.f_ffree == 0)
		r->result.disk_full = 1;
	if (r->result.disk_full)
		return; /* that is all there is to know */
	int64_t free = (int64_t)fs.f_bfree * (int64_t)fs.f_bsize / DISK_BYTES_PER_US;
	int64_t inodes = (int64_t)fs.f_ffree / DISK_INODES_PER_US;
	free = free < inodes ? free : inodes;
	r->disk_us = now_us() + (free > least ? free : least);
}

/* --- events --- */

/* The launcher has made the net namespace by now, and may not outlive the run. */
static void open_sockets(struct keeper *k)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/net/sockstat", (long)k->launcher.pid);
	if (k->sockets < 0)
		k->sockets = open(path, O_RDONLY | O_CLOEXEC);
}

static void take_directories(struct run *r, int *fds)
{
	r->out = fds[STARTED_OUT];
	r->proc = r->grants.proc = fds[STARTED_PROC];
	r->mounts = fds[STARTED_MOUNTS];
	for (size_t i = 0; i < STARTED_FDS; i++)
		fds[i] = -1;
}

/* One that waited has told of its directories before, and job.c has its base. */
static void on_started(struct run *r, const struct event *event, int *fds)
{
	r->started = true;
	r->started_us = event->at_us;
	r->look_us = r->disk_us = event->at_us;
	if (r->ready)
		return;
	take_directories(r, fds);
	if (cgroups_cpu(&r->keeper->cgroups, &r->cpu_base) < 0)
		r->cpu_base.total_us = -1;
}

static void on_event(struct run *r, const struct event *event, int *fds)
{
	switch ((enum event_kind)event->kind) {
	case EVENT_BORN:
		r->born = true;
		r->init = event->pid;
		r->pidfd = fds[0];
		fds[0] = -1;
		open_sockets(r->keeper);
		if (r->result.reason != PROTOCOL_NOT_KILLED) /* the order came first */
			run_kill(r, PROTOCOL_NOT_KILLED);
		break;
	case EVENT_LISTENER: /* all but running: its time begins, should init not say so */
		if (!r->waits)
			r->started_us = r->look_us = now_us();
		r->notify.listener = fds[0];
		fds[0] = -1;
		break;
	case EVENT_WAITING:
		r->ready = true;
		take_directories(r, fds);
		break;
	case EVENT_STARTED:
		on_started(r, event, fds);
		break;
	case EVENT_DONE:
		if (r->stays && r->over)
			break; /* it said that it held, and we ended it */
		/* Where we ended it, its init says how it died, and is no more in any other run. */
		r->result.has_status = !r->stays || r->result.reason == PROTOCOL_NOT_KILLED;
		r->result.wait_status = event->status;
		r->ended_us = event->at_us;
		r->over_us = now_us();
		r->kill_us = r->over_us + KILL_AGAIN_US; /* should init not exit */
		r->over = r->stays;
		if (run_has_states(r))
			strike(r);
		if (cgroups_pids_now(&r->keeper->cgroups) > MANY)
			cgroups_lift_quota(&r->keeper->cgroups);
		break;
	case EVENT_FAILED:
		r->result.failure = event->failure;
		break;
	case EVENT_HELD:
		if (event->pid > 1 && !r->over && r->result.reason == PROTOCOL_NOT_KILLED) {
			held_look(r, event->pid);
			if (!r->result.held)
				strike(r);
		} else if (event->pid <= 1) {
			held_refused(r, event->failure.step);
		}
		break;
	case EVENT_READY:
		break;
	}
}

/* -1: the launcher is gone. */
static int read_event(struct run *r)
{
	struct event event;
	int fds[STARTED_FDS];
	ssize_t n = message_receive(r->keeper->launcher.events, &event, sizeof(event), fds,
				    STARTED_FDS);

	if (n <= 0)
		return -1;
	if (n == sizeof(event))
		on_event(r, &event, fds);
	close_all(fds, STARTED_FDS);
	return 0;
}

static void read_client(struct run *r)
{
	struct protocol_request order;
	ssize_t n = message_receive(r->keeper->client, &order, sizeof(order), NULL, 0);

	if (n <= 0) {
		r->client_gone = true;
		run_kill(r, PROTOCOL_KILL_CANCELLED);
	} else if (n == sizeof(order) && order.kind == PROTOCOL_KILL) {
		run_kill(r, (enum protocol_reason)order.reason);
	}
}

/* --- limits --- */

/* Templates are in the groups, and nothing of them is the run's. */
int run_limit_groups(struct run *r)
{
	struct keeper *k = r->keeper;
	struct protocol_limits limits = r->request->limits;

	r->ours_bytes = template_bytes();
	r->ours_pids = template_pids();
	for (size_t i = 0; i < PROTOCOL_STATES_MAX; i++)
		r->ours_pids += (r->slots[i].pid > 0) + (r->dying[i].pid > 0);
	limits.processes += r->ours_pids;
	/* A fork is born of two more (warm/spawn.c), which are gone before there is a job. */
	if (r->waits && r->forks)
		limits.processes += 2;
	return cgroups_limit(&k->cgroups, &limits, r->request->input_bytes + r->ours_bytes);
}

/* What a template leaves behind is the run's then, or more than it may have. */
static void look_at_template(struct run *r)
{
	if (!r->stays && r->ours_pids > 0 && !template_all_live() && run_limit_groups(r) < 0)
		run_kill(r, PROTOCOL_KILL_MEMORY);
}

static int64_t cpu_used_us(const struct run *r)
{
	int64_t seen = r->peak.user_us + r->peak.system_us, booked = ledger_us(r->ledger);

	if (r->cpu_base.total_us < 0)
		return seen > booked ? seen : booked;
	return cgroups_cpu_us(&r->keeper->cgroups) - r->cpu_base.total_us;
}

int64_t run_us(struct timeval t)
{
	return (int64_t)t.tv_sec * 1000000 + t.tv_usec;
}

/* What we and those who count for us took of a processor: a look that a guest makes
 * wait is no reason to look less often. */
static int64_t our_cpu_us(void)
{
	struct rusage own;

	getrusage(RUSAGE_SELF, &own);
	struct rusage children;
	getrusage(RUSAGE_CHILDREN, &children);
	return run_us(own.ru_utime) + run_us(own.ru_stime) + run_us(children.ru_utime) +
	       run_us(children.ru_stime);
}

static int count_memory(struct run *r, struct usage *ret)
{
	return supervise_count(r->proc, r->out, r->init,
			       r->grants.shared_bytes + r->maps_bytes + r->absent_bytes,
			       r->request->limits.memory_bytes, r->ledger, ret);
}

/* They take time to count, and to make. */
static void look_at_maps(struct run *r, const struct usage *seen)
{
	if (r->keeper->hello.memory_cgroup || now_us() < r->maps_us)
		return;
	int64_t bytes = supervise_maps(r->proc, seen, r->request->limits.memory_bytes);
	if (bytes >= 0)
		r->maps_bytes = bytes;
	r->maps_us = now_us() + MAPS_US;
}

/* Memory and CPU time where the kernel does not limit them for us. */
static void look_at_processes(struct run *r)
{
	if (!r->keeper->hello.memory_cgroup)
		r->absent_bytes =
			absent_bytes(&r->absent, r->proc, cpu_used_us(r) - r->peak.user_us,
				     r->request->limits.memory_bytes);
	struct usage now;
	if (count_memory(r, &now) < 0)
		return;
	if (r->grants.shared_bytes > 0 && now.memory_bytes > r->request->limits.memory_bytes) {
		grant_count_shared(&r->grants);
		if (count_memory(r, &now) < 0)
			return;
	}
	look_at_maps(r, &now);
	r->grants.other_bytes = now.memory_bytes - now.sockets_bytes;
	r->memory_bytes = now.memory_bytes;
	if (now.memory_bytes > r->peak.memory_bytes)
		r->peak.memory_bytes = now.memory_bytes;
	if (now.user_us + now.system_us > r->peak.user_us + r->peak.system_us) {
		r->peak.user_us = now.user_us;
		r->peak.system_us = now.system_us;
	}
	if (now.pids > r->peak.pids)
		r->peak.pids = now.pids;
	if (!r->keeper->hello.memory_cgroup && now.memory_bytes > r->request->limits.memory_bytes)
		run_kill(r, PROTOCOL_KILL_MEMORY);
}

/* Who does not listen is not waited for. */
static void tell_used(struct run *r)
{
	const struct protocol_used used = { .kind = PROTOCOL_USED,
					    .memory_bytes = r->memory_bytes };
	int64_t now = now_us();

	if (!r->request->tells || r->client_gone || now - r->started_us < TELL_US ||
	    now - r->told_us < TELL_US)
		return;
	r->told_us = now;
	(void)!send(r->keeper->client, &used, sizeof(used), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void look_at_memory(struct run *r)
{
	int64_t bytes = cgroups_memory_now(&r->keeper->cgroups);

	if (bytes > r->peak.memory_bytes)
		r->peak.memory_bytes = bytes;
	if (bytes >= 0)
		r->memory_bytes = bytes > r->ours_bytes ? bytes - r->ours_bytes : 0;
}

static void look(struct run *r)
{
	const struct protocol_hello *h = &r->keeper->hello;
	int64_t before = our_cpu_us();
	bool supervised = !h->memory_cgroup || !h->pids_cgroup || !h->cpu_count_cgroup;

	look_at_template(r);
	if (supervised && r->proc >= 0)
		look_at_processes(r);
	int64_t pids = cgroups_pids_now(&r->keeper->cgroups) - WALL_PIDS - r->ours_pids;
	if (pids > r->peak.pids)
		r->peak.pids = pids;
	look_at_memory(r);
	tell_used(r);
	if (thrash_look(&r->thrash, &r->keeper->cgroups, now_us())) {
		run_kill(r, PROTOCOL_KILL_MEMORY);
		return;
	}
	int64_t left = r->request->limits.cpu_ms * 1000 - cpu_used_us(r);
	if (left <= 0) {
		run_kill(r, PROTOCOL_KILL_CPU);
		return;
	}
	/* All processors at once, where nothing holds the tree to one. */
	left /= h->cpu_cgroup ? 1 : r->keeper->processors;
	if (left < CPU_LOOK_MIN_US)
		left = CPU_LOOK_MIN_US;
	if (left > 100000)
		left = 100000;
	int64_t supervise = (our_cpu_us() - before) * (SUPERVISE_SHARE - 1);
	if (supervise < SUPERVISE_US)
		supervise = SUPERVISE_US;
	r->look_us = now_us() + (supervised && left > supervise ? supervise : left);
}

/* Does what is due and says how long to wait; -1: until something happens. */
static int64_t check_limits(struct run *r)
{
	int64_t now = now_us();

	if (r->over_us != 0) {
		if (now >= r->kill_us)
			strike(r);
		return run_has_states(r) ? KILL_OTHERS_US : KILL_AGAIN_US;
	}
	if (r->started_us == 0)
		return -1;
	int64_t wall = r->started_us + r->request->limits.wall_ms * 1000;
	if (now >= wall) {
		run_kill(r, PROTOCOL_KILL_WALL);
		return KILL_AGAIN_US;
	}
	if (now >= r->look_us || ledger_is_filling(r->ledger))
		look(r);
	if (now >= r->disk_us)
		run_look_at_disk(r);
	int64_t wait = (r->look_us < wall ? r->look_us : wall) - now;
	if (wait > r->disk_us - now)
		wait = r->disk_us - now;
	return wait > 0 ? wait : 0;
}

/* --- the loop --- */

static void reap(struct run *r)
{
	int status;

	while (wait4(r->init, &status, 0, &r->rusage) < 0 && errno == EINTR)
		;
	r->reaped = true;
	if (r->ended_us == 0)
		r->ended_us = now_us();
}

static void handle(struct run *r, const struct pollfd *fds)
{
	if (fds[POLL_LAUNCHER].revents && read_event(r) < 0) {
		close_all(&r->keeper->launcher.events, 1);
		if (!r->born)
			failure_set(&r->result.failure, "the launcher died", "");
	}
	if (fds[POLL_NOTIFY].revents & POLLIN)
		notify_answer(&r->notify);
	if (fds[POLL_NOTIFY].revents & (POLLHUP | POLLERR))
		close_all(&r->notify.listener, 1);
	if (r->notify.foreign)
		run_kill(r, PROTOCOL_KILL_FORBIDDEN);
	if (fds[POLL_CLIENT].revents && !r->client_gone)
		read_client(r);
	/* Reports come before the end: read them all first. */
	if (fds[POLL_INIT].revents && !fds[POLL_LAUNCHER].revents)
		reap(r);
}

static void fill_polls(const struct run *r, int client, struct pollfd *ret)
{
	ret[POLL_CLIENT] = (struct pollfd){ .fd = client, .events = POLLIN };
	ret[POLL_LAUNCHER] = (struct pollfd){ .fd = r->keeper->launcher.events, .events = POLLIN };
	ret[POLL_INIT] = (struct pollfd){ .fd = r->pidfd, .events = POLLIN };
	ret[POLL_NOTIFY] = (struct pollfd){ .fd = r->notify.listener, .events = POLLIN };
}

/* Waits at most so long (-1: for ever), and no denied call is taken before its time. */
static int wait_for_any(struct run *r, int64_t wait, struct pollfd *fds)
{
	int64_t rate = r->notify.refilled_us == 0 ? 0 : notify_wait_us(&r->notify);

	if (rate > 0) {
		fds[POLL_NOTIFY].fd = -1;
		wait = wait < 0 || rate < wait ? rate : wait;
	}
	struct timespec timeout = (struct timespec){ wait / 1000000, wait % 1000000 * 1000 };
	return ppoll(fds, POLL_COUNT, wait < 0 ? NULL : &timeout, NULL);
}

/* A guest of a context, whose init lives on: it has ended or holds, and so has what it started. A
 * state that could not be copied is no end of it. */
static bool is_done(struct run *r)
{
	if (!run_has_states(r))
		return false;
	if (r->result.failure.step[0] != '\0')
		return true;
	if (!r->over)
		return false;
	if (held_is_still(r))
		return true;
	if (r->over_us == 0)
		strike(r);
	return false;
}

void run_watch(struct run *r)
{
	while (!r->reaped && !is_done(r) && (r->born || r->result.failure.step[0] == '\0')) {
		int64_t wait = check_limits(r);
		struct pollfd fds[POLL_COUNT];

		fill_polls(r, r->client_gone ? -1 : r->keeper->client, fds);
		if (wait_for_any(r, wait, fds) < 0 && errno != EINTR)
			run_kill(r, PROTOCOL_KILL_CANCELLED);
		else
			handle(r, fds);
	}
}

/* until_us: no longer than that; INT64_MAX: for ever. */
static bool answer_until(struct run *r, int client, int64_t until_us)
{
	while (!r->reaped && r->result.failure.step[0] == '\0') {
		int64_t left = until_us == INT64_MAX ? -1 : until_us - now_us();

		if (left <= 0 && until_us != INT64_MAX)
			return false;
		struct pollfd fds[POLL_COUNT];
		fill_polls(r, client, fds);
		if (wait_for_any(r, left, fds) < 0 && errno != EINTR)
			return false;
		if (fds[POLL_CLIENT].revents)
			return true;
		handle(r, fds);
		if (r->keeper->launcher.events < 0)
			return false;
		if (client < 0 && r->ready && r->born)
			return true;
	}
	return false;
}

bool run_idle(struct run *r)
{
	return answer_until(r, r->keeper->client, now_us() + (int64_t)r->prepared.idle_ms * 1000);
}

bool run_keep(struct run *r)
{
	memset(&r->result.failure, 0, sizeof(r->result.failure));
	return answer_until(r, r->keeper->client, now_us() + (int64_t)r->request->idle_ms * 1000);
}

bool run_until_ready(struct run *r)
{
	return (r->ready && r->born) || answer_until(r, -1, INT64_MAX);
}
