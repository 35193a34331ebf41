/*
 * sandbox_run: hand a job to the keeper, carry the guest's output while it
 * runs, and put together what happened.
 */
#include "sandbox/internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/io.h"
#include "base/mem.h"

#include <linux/filter.h>
#define SECCOMP_WANT_PROGRAMS
#include "sandbox/seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOOD_FACTOR 16		/* times the kept bytes: a flood, not a long answer */
#define FLOOD_MIN (1 << 20)
#define GRACE_MS 5000		/* a keeper this late is stuck */

struct channel {
	int fd;			/* read end; -1 after its end */
	bool is_stderr;
	int64_t limit;
	struct buf kept;
	uint64_t total;
};

struct pump {
	struct sandbox *sandbox;
	const struct sandbox_job *job;
	const struct sandbox_watch *watch;
	struct channel channels[2];
	bool killed;
	enum protocol_reason reason;	/* of our order to kill */
	const char *lost;	/* what became of the keeper; NULL: it answers */
	int64_t start_ms, deadline_ms;	/* to wait for an answer until */
	struct protocol_result *facts;
	int out_dir;
};

/* --- output --- */

static void channel_take(struct channel *c, const struct sandbox_watch *watch, const char *bytes,
			 size_t len)
{
	size_t room = (size_t)c->limit - c->kept.len;
	size_t keep = len < room ? len : room;

	c->total += len;
	if (keep == 0)
		return;
	buf_add(&c->kept, bytes, keep);
	if (watch != NULL && watch->output != NULL)
		watch->output(watch->self, c->is_stderr, bytes, keep);
}

/* One read; false when there is nothing more for now. */
static bool channel_read(struct channel *c, const struct sandbox_watch *watch)
{
	static char bytes[65536];
	ssize_t n = io_read(c->fd, bytes, sizeof(bytes));

	if (n > 0) {
		channel_take(c, watch, bytes, (size_t)n);
		return true;
	}
	if (n == 0 || errno != EAGAIN)
		io_close(TAKE_FD(c->fd));
	return false;
}

static bool is_flood(const struct channel *c)
{
	int64_t over = c->limit * FLOOD_FACTOR;

	if (over < c->limit + FLOOD_MIN)
		over = c->limit + FLOOD_MIN;
	return c->total > (uint64_t)over;
}

/* --- the loop --- */

static void order_kill(struct pump *p, enum protocol_reason reason)
{
	const struct protocol_request order = { .kind = PROTOCOL_KILL, .reason = (uint32_t)reason };

	if (p->killed)
		return;
	p->killed = true;
	p->reason = reason;
	p->deadline_ms = clock_mono_ms() + GRACE_MS;
	/* When this fails the keeper is dead, and the next receive says so. */
	connection_send(p->sandbox, &order, sizeof(order), NULL, 0);
}

static int lose(struct pump *p, struct error *err, const char *how)
{
	p->lost = how;
	return error_set(err, ERR_SANDBOX, "%s", how);
}

static int receive_result(struct pump *p, struct error *err)
{
	ssize_t n = connection_receive(p->sandbox, p->facts, sizeof(*p->facts), &p->out_dir);

	if (n != sizeof(*p->facts) || p->facts->kind != PROTOCOL_RESULT)
		return lose(p, err, "the keeper died during the run");
	return 0;
}

static int wait_ms(int64_t deadline)
{
	int64_t left = deadline - clock_mono_ms();

	return left < 0 ? 0 : left > 1000 ? 1000 : (int)left;
}

static void read_channels(struct pump *p, const struct pollfd *fds)
{
	for (size_t i = 0; i < 2; i++) {
		if (fds[i].revents != 0)
			channel_read(&p->channels[i], p->watch);
		if (is_flood(&p->channels[i]))
			order_kill(p, PROTOCOL_KILL_OUTPUT);
	}
}

/* Until the keeper reports; by then every process of the run is dead. */
static int pump_until_result(struct pump *p, struct error *err)
{
	int cancel = p->watch == NULL ? -1 : p->watch->cancel_fd;

	for (;;) {
		struct pollfd fds[] = {
			{ .fd = p->channels[0].fd, .events = POLLIN },
			{ .fd = p->channels[1].fd, .events = POLLIN },
			{ .fd = p->sandbox->socket, .events = POLLIN },
			{ .fd = p->killed ? -1 : cancel, .events = POLLIN },
		};

		if (poll(fds, ARRAY_SIZE(fds), wait_ms(p->deadline_ms)) < 0 && errno != EINTR)
			return error_set_errno(err, ERR_SANDBOX, errno, "poll");
		read_channels(p, fds);
		if (fds[2].revents != 0)
			return receive_result(p, err);
		if (fds[3].revents != 0)
			order_kill(p, PROTOCOL_KILL_CANCELLED);
		if (clock_mono_ms() > p->deadline_ms)
			return lose(p, err, "the keeper did not answer and was killed");
	}
}

/* What is left in the pipes: bounded, for nobody writes any more. */
static void drain(struct pump *p)
{
	for (size_t i = 0; i < 2; i++)
		while (p->channels[i].fd >= 0 && channel_read(&p->channels[i], p->watch))
			;
}

/* After the keeper's end its processes die, which ends the pipes. */
static void drain_dying(struct pump *p)
{
	p->deadline_ms = clock_mono_ms() + GRACE_MS;
	while ((p->channels[0].fd >= 0 || p->channels[1].fd >= 0) &&
	       clock_mono_ms() < p->deadline_ms) {
		struct pollfd fds[] = {
			{ .fd = p->channels[0].fd, .events = POLLIN },
			{ .fd = p->channels[1].fd, .events = POLLIN },
		};

		poll(fds, ARRAY_SIZE(fds), wait_ms(p->deadline_ms));
		for (size_t i = 0; i < 2; i++)
			if (fds[i].revents != 0)
				channel_read(&p->channels[i], p->watch);
	}
}

/* --- start --- */

static int make_pipe(int *ret_read, int *ret_write, struct error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "pipe");
	/* The guest is another user and may open /dev/stdout, which is this pipe. */
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 || fchmod(ends[1], 0622) < 0) {
		io_close(ends[0]);
		io_close(ends[1]);
		return error_set_errno(err, ERR_SANDBOX, errno, "pipe");
	}
	*ret_read = ends[0];
	*ret_write = ends[1];
	return 0;
}

static struct protocol_limits limits_of(const struct sandbox_limits *l)
{
	return (struct protocol_limits){
		.wall_ms = l->wall_ms, .cpu_ms = l->cpu_ms, .memory_bytes = l->memory_bytes,
		.processes = l->processes, .open_files = l->open_files,
		.disk_bytes = l->disk_bytes, .inodes = l->inodes,
	};
}

static int start(struct pump *p, const char *interpreter, struct error *err)
{
	struct protocol_request request = { .kind = PROTOCOL_RUN,
					    .limits = limits_of(&p->job->limits) };
	cleanup_close int payload = -1, input = -1, out = -1, errors = -1;

	if (payload_make(p->job, interpreter, &payload, &request.input_bytes, err) < 0 ||
	    payload_stdin(p->job, &input, err) < 0 ||
	    make_pipe(&p->channels[0].fd, &out, err) < 0 ||
	    make_pipe(&p->channels[1].fd, &errors, err) < 0)
		return -1;
	int fds[PROTOCOL_RUN_FDS] = {
		[PROTOCOL_FD_PAYLOAD] = payload, [PROTOCOL_FD_STDIN] = input,
		[PROTOCOL_FD_STDOUT] = out, [PROTOCOL_FD_STDERR] = errors,
	};
	connection_forget_guest(p->sandbox);
	if (connection_send(p->sandbox, &request, sizeof(request), fds, PROTOCOL_RUN_FDS) == 0)
		return 0;
	/* It died between two runs: a fresh one has nothing of the old. */
	connection_close(p->sandbox);
	if (connection_open(p->sandbox, err) < 0)
		return -1;
	if (connection_send(p->sandbox, &request, sizeof(request), fds, PROTOCOL_RUN_FDS) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "reach the keeper");
	return 0;
}

/* --- the result --- */

static const char *filter_hash(struct sandbox *s)
{
	bool standard = s->hello.filter == PROTOCOL_FILTER_STANDARD;

	if (s->filter_hash[0] == '\0')
		hash_sha256(standard ? seccomp_standard : seccomp_supervised,
			    standard ? sizeof(seccomp_standard) : sizeof(seccomp_supervised),
			    s->filter_hash);
	return s->filter_hash;
}

static void fill_isolation(struct sandbox *s, struct sandbox_isolation *i)
{
	const struct protocol_hello *h = &s->hello;

	*i = (struct sandbox_isolation){
		.userns = h->namespaces & PROTOCOL_NS_USER,
		.pidns = h->namespaces & PROTOCOL_NS_PID,
		.netns = h->namespaces & PROTOCOL_NS_NET,
		.mountns = h->namespaces & PROTOCOL_NS_MOUNT,
		.ipcns = h->namespaces & PROTOCOL_NS_IPC,
		.utsns = h->namespaces & PROTOCOL_NS_UTS,
		.cgroupns = h->namespaces & PROTOCOL_NS_CGROUP,
		.no_new_privs = true,	/* a keeper that cannot set it does not start */
		.landlock_abi = h->landlock_abi,
		.uid = h->guest_uid,
	};
	strcpy(i->seccomp, filter_hash(s));
	memcpy(i->cgroup, h->cgroup, sizeof(i->cgroup));
	strcpy(i->memory_limit, h->memory_cgroup ? "cgroup" : "rlimit");
	strcpy(i->pids_limit, h->pids_cgroup ? "cgroup" : "rlimit");
	strcpy(i->cpu_limit, h->cpu_cgroup ? "cgroup" : "rlimit");
}

static void fill_stream(struct channel *c, struct sandbox_stream *ret)
{
	ret->total = c->total;
	ret->bytes = buf_take(&c->kept, &ret->len);
	ret->truncated = ret->total > ret->len;
}

static void fill_forbidden(const struct protocol_result *facts, struct sandbox_result *result)
{
	size_t count = facts->forbidden_count > PROTOCOL_FORBIDDEN_MAX ? PROTOCOL_FORBIDDEN_MAX :
		facts->forbidden_count;

	if (count == 0)
		return;
	result->forbidden = mem_array(NULL, count, sizeof(*result->forbidden));
	for (size_t i = 0; i < count; i++) {
		struct sandbox_forbidden *to = &result->forbidden[i];
		const struct protocol_forbidden *from = &facts->forbidden[i];

		memcpy(to->syscall, from->syscall, sizeof(to->syscall));
		memcpy(to->arch, from->arch, sizeof(to->arch));
		memcpy(to->args, from->args, sizeof(to->args));
		to->count = from->count;
	}
	result->forbidden_count = count;
}

static int fill_result(struct pump *p, struct sandbox_result *result, struct error *err)
{
	const struct protocol_result *facts = p->facts;

	fill_stream(&p->channels[0], &result->out);
	fill_stream(&p->channels[1], &result->err);
	fill_forbidden(facts, result);
	fill_isolation(p->sandbox, &result->isolation);
	result->metrics = (struct sandbox_metrics){
		.wall_ms = (double)facts->wall_us / 1000,
		.user_ms = (double)facts->user_us / 1000,
		.system_ms = (double)facts->system_us / 1000,
		.peak_memory_bytes = facts->peak_memory_bytes,
		.peak_pids = facts->peak_pids,
		.written_bytes = facts->written_bytes,
	};
	outcome_decide(facts, &p->job->limits, p->sandbox->hello.memory_cgroup, result);
	if (p->lost != NULL) {
		size_t len = strlen(result->detail);

		snprintf(result->detail + len, sizeof(result->detail) - len, "; %s", p->lost);
	}
	if (p->out_dir < 0)
		return 0;
	return artifact_collect(p->out_dir, &p->job->limits, result, err);
}

static void pump_release(struct pump *p)
{
	for (size_t i = 0; i < 2; i++) {
		if (p->channels[i].fd >= 0)
			io_close(p->channels[i].fd);
		buf_release(&p->channels[i].kept);
	}
	if (p->out_dir >= 0)
		io_close(p->out_dir);
}

/*
 * The keeper is gone or stuck, and dies of it with all it started. Of a guest
 * that ran and that we wanted to end we know the outcome: our own reason. 0, or
 * -1 when none ran, or when the keeper died by itself: what of, nobody knows.
 */
static int end_without_keeper(struct pump *p)
{
	int64_t now = clock_mono_ms();
	bool ran, late = now >= p->start_ms + p->job->limits.wall_ms;
	enum protocol_reason reason = p->killed ? p->reason :
		late ? PROTOCOL_KILL_WALL : PROTOCOL_NOT_KILLED;

	connection_kill(p->sandbox, &ran);
	if (!ran || reason == PROTOCOL_NOT_KILLED)
		return -1;
	drain_dying(p);
	*p->facts = (struct protocol_result){
		.kind = PROTOCOL_RESULT, .wall_us = (now - p->start_ms) * 1000,
		.user_us = -1000, .system_us = -1000, .peak_memory_bytes = -1, .peak_pids = -1,
		.written_bytes = -1, .reason = (uint32_t)reason,
	};
	return 0;
}

static int run(struct pump *p, const char *interpreter, struct sandbox_result *ret_result,
	       struct error *err)
{
	struct sandbox_result result = { .exit_code = -1 };

	if (connection_open(p->sandbox, err) < 0 || start(p, interpreter, err) < 0)
		return -1;
	p->start_ms = clock_mono_ms();
	p->deadline_ms = p->start_ms + p->job->limits.wall_ms + GRACE_MS;
	if (pump_until_result(p, err) < 0) {
		if (end_without_keeper(p) < 0)
			return -1;
		error_clear(err);
	}
	drain(p);
	if (p->facts->failure.step[0] != '\0')
		return connection_failure(&p->facts->failure, err);
	if (fill_result(p, &result, err) < 0) {
		sandbox_result_release(&result);
		return -1;
	}
	*ret_result = result;
	return 0;
}

int run_bare(struct sandbox *s, const struct sandbox_job *job, const char *interpreter,
	     const struct sandbox_watch *watch, struct sandbox_result *ret_result,
	     struct error *err)
{
	const struct sandbox_limits *l = &job->limits;
	struct protocol_result *facts = mem_alloc(sizeof(*facts));
	struct pump p = {
		.sandbox = s, .job = job, .watch = watch, .facts = facts, .out_dir = -1,
		.channels = {
			{ .fd = -1, .limit = l->stdout_bytes,
			  .kept = BUF_INIT((size_t)l->stdout_bytes) },
			{ .fd = -1, .limit = l->stderr_bytes, .is_stderr = true,
			  .kept = BUF_INIT((size_t)l->stderr_bytes) },
		},
	};
	int status = run(&p, interpreter, ret_result, err);

	pump_release(&p);
	free(facts);
	return status;
}

int sandbox_run(struct sandbox *s, const struct sandbox_job *job,
		const struct sandbox_watch *watch, struct sandbox_result *ret_result,
		struct error *err)
{
	struct sandbox_environment environment;

	if (sandbox_describe(s, job->language, &environment, err) < 0)
		return -1;
	if (environment.interpreter == NULL)
		return error_set(err, ERR_SANDBOX, "%s is not installed: none of its interpreters "
				 "is below /usr or /bin", job->language->name);
	if (run_bare(s, job, environment.interpreter, watch, ret_result, err) < 0)
		return -1;
	ret_result->environment = environment;
	return 0;
}
