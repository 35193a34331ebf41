/*
 * The loop of a run: carries output, takes orders to kill, waits for the keeper. It reads no more
 * than the limits and blocks on no single descriptor; why a run ended is outcome.c's to say.
 */
#include "sandbox/native/pump.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/payload.h"
#include "sandbox/native/standby.h"
#include "sandbox/native/waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLOOD_FACTOR 16 /* times the kept bytes: a flood, not a long answer */
#define FLOOD_MIN    (1 << 20)
#define GRACE_MS     5000 /* a keeper this late is stuck */

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
	if (watch && watch->output)
		watch->output(watch->self, c->is_stderr, bytes, keep);
}

/* One read; false when there is nothing more for now. */
static bool channel_read(struct channel *c, const struct sandbox_watch *watch)
{
	char bytes[65536];
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

void pump_kill(struct pump *p, enum protocol_reason reason)
{
	const struct protocol_request order = { .kind = PROTOCOL_KILL, .reason = (uint32_t)reason };

	if (p->killed)
		return;
	p->killed = true;
	p->reason = reason;
	p->deadline_ms = clock_mono_ms() + GRACE_MS;
	/* When this fails the keeper is dead, and the next receive says so. */
	connection_send(p->native, &order, sizeof(order), NULL, 0);
}

static int lose(struct pump *p, struct error *err, const char *how)
{
	p->lost = how;
	return error_set(err, ERR_SANDBOX, "%s", how);
}

static void tell_used(const struct pump *p)
{
	struct protocol_used used;

	memcpy(&used, p->facts, sizeof(used));
	if (p->watch && p->watch->used)
		p->watch->used(p->watch->self, used.memory_bytes);
}

static int receive_result(struct pump *p, struct error *err)
{
	ssize_t n = connection_receive(p->native, p->facts, sizeof(*p->facts), &p->out_dir);

	if (n == sizeof(struct protocol_busy) && p->facts->kind == PROTOCOL_BUSY) {
		if (!p->killed)
			p->deadline_ms = clock_mono_ms() + p->job->limits.wall_ms + GRACE_MS;
		return 0;
	}
	if (n == sizeof(struct protocol_used) && p->facts->kind == PROTOCOL_USED) {
		tell_used(p);
		return 0;
	}
	if (n != sizeof(*p->facts) || p->facts->kind != PROTOCOL_RESULT)
		return lose(p, err, "the keeper died during the run");
	p->ended = true;
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
			pump_kill(p, PROTOCOL_KILL_OUTPUT);
	}
}

void pump_poll(const struct pump *p, struct pollfd *ret_fds)
{
	int cancel = !p->watch || p->killed ? -1 : p->watch->cancel_fd;

	ret_fds[0] = (struct pollfd){ .fd = p->channels[0].fd, .events = POLLIN };
	ret_fds[1] = (struct pollfd){ .fd = p->channels[1].fd, .events = POLLIN };
	ret_fds[2] = (struct pollfd){ .fd = p->native->socket, .events = POLLIN };
	ret_fds[3] = (struct pollfd){ .fd = cancel, .events = POLLIN };
	port_poll(&p->port, &ret_fds[4]);
	for (size_t i = 0; p->ended && i < PUMP_FDS; i++)
		ret_fds[i].fd = -1;
}

int pump_handle(struct pump *p, const struct pollfd *fds, struct error *err)
{
	if (p->ended)
		return 0;
	read_channels(p, fds);
	if (fds[2].revents != 0)
		return receive_result(p, err);
	if (fds[3].revents != 0)
		pump_kill(p, PROTOCOL_KILL_CANCELLED);
	int64_t until_ms = p->start_ms + p->job->limits.wall_ms + SANDBOX_PORT_MORE_MS;
	if (!p->killed && port_handle(&p->port, p->job->port, until_ms, &fds[4]))
		pump_kill(p, PROTOCOL_KILL_CANCELLED);
	if (clock_mono_ms() > p->deadline_ms)
		return lose(p, err, "the keeper did not answer and was killed");
	return 0;
}

int pump_wait_ms(const struct pump *p)
{
	return p->ended ? 1000 : wait_ms(p->deadline_ms);
}

/* --- start --- */

/* In the place of a mount that there is not, the payload once more. */
static int mount_or(int tree, int payload)
{
	return tree >= 0 ? tree : fcntl(payload, F_DUPFD_CLOEXEC, 0);
}

static int make_streams(struct pump *p, int fds[PROTOCOL_RUN_FDS], struct error *err)
{
	return payload_stdin(p->job, &fds[PROTOCOL_FD_STDIN], err) < 0 ||
			       payload_output(&p->channels[0].fd, &fds[PROTOCOL_FD_STDOUT], err) <
				       0 ||
			       payload_output(&p->channels[1].fd, &fds[PROTOCOL_FD_STDERR], err) <
				       0 ?
		       -1 :
		       0;
}

/* What is mounted stays as it is. */
static int make_copy_fds(struct pump *p, int fds[PROTOCOL_RUN_FDS], struct error *err)
{
	if (payload_make_resume(p->job, &fds[PROTOCOL_FD_PAYLOAD], err) < 0)
		return -1;
	fds[PROTOCOL_FD_INPUTS] = mount_or(-1, fds[PROTOCOL_FD_PAYLOAD]);
	fds[PROTOCOL_FD_ENVIRONMENT] = mount_or(-1, fds[PROTOCOL_FD_PAYLOAD]);
	return make_streams(p, fds, err);
}

/* Payload, and the guest's streams, whose other ends are the pump's. */
static int make_fds(struct pump *p, const char *interpreter, struct protocol_request *request,
		    int fds[PROTOCOL_RUN_FDS], struct error *err)
{
	if (p->from != 0)
		return make_copy_fds(p, fds, err);
	if (share_inputs(p->native, p->job, &p->shared, err) < 0)
		return -1;
	/* What waited has no port: it was made for a job without one. */
	struct waiting *w = p->job->port ? NULL :
					   waiting_take(p->native, p->job, interpreter,
							fds[PROTOCOL_FD_LINK_OUT] >= 0);
	if (payload_make(p->job, interpreter, &p->shared, &fds[PROTOCOL_FD_PAYLOAD],
			 &request->input_bytes, err) < 0) {
		waiting_free(w);
		return -1;
	}
	fds[PROTOCOL_FD_INPUTS] = mount_or(TAKE_FD(p->shared.tree), fds[PROTOCOL_FD_PAYLOAD]);
	fds[PROTOCOL_FD_ENVIRONMENT] = mount_or(TAKE_FD(p->shared.env), fds[PROTOCOL_FD_PAYLOAD]);
	if (!w)
		return make_streams(p, fds, err);
	request->waiting = 1;
	request->forks = w->forks;
	p->packages = w->packages;
	p->channels[0].fd = TAKE_FD(w->out);
	p->channels[1].fd = TAKE_FD(w->errors);
	for (int i = PROTOCOL_FD_STDIN; i <= PROTOCOL_FD_STDERR; i++)
		fds[i] = TAKE_FD(w->fds[i]);
	int status = payload_fill_stdin(p->job, fds[PROTOCOL_FD_STDIN], err);
	waiting_free(w);
	return status;
}

static int send_request(struct pump *p, struct protocol_request *request, const int *fds,
			size_t count, struct error *err)
{
	if (connection_open(p->native, err) < 0)
		return -1;
	p->start_ms = clock_mono_ms();
	p->deadline_ms = p->start_ms + p->job->limits.wall_ms + GRACE_MS;
	connection_forget_guest(p->native);
	if (connection_send(p->native, request, sizeof(*request), fds, count) == 0)
		return 0;
	if (errno == ETOOMANYREFS)
		return error_set(err, ERR_SANDBOX, "reach the keeper: " PROTOCOL_REMEDY_IN_FLIGHT);
	/* It died between two runs: a fresh one has nothing of the old. */
	connection_close(p->native);
	if (connection_open(p->native, err) < 0)
		return -1;
	request->waiting = 0;
	if (connection_send(p->native, request, sizeof(*request), fds, count) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "reach the keeper");
	return 0;
}

int pump_start(struct pump *p, const char *interpreter, const int link[2], struct error *err)
{
	struct protocol_request request = { .kind = PROTOCOL_RUN,
					    .last = p->native->once,
					    .state = p->state,
					    .from = p->from,
					    .tells = !p->native->far && p->watch && p->watch->used,
					    .idle_ms = p->keep_ms,
					    .limits = payload_limits(&p->job->limits),
					    .artifact_bytes = p->job->limits.artifact_bytes,
					    .artifacts = p->job->limits.artifacts };
	int fds[PROTOCOL_RUN_FDS] = {
		[PROTOCOL_FD_PAYLOAD] = -1,
		[PROTOCOL_FD_INPUTS] = -1,
		[PROTOCOL_FD_ENVIRONMENT] = -1,
		[PROTOCOL_FD_STDIN] = -1,
		[PROTOCOL_FD_STDOUT] = -1,
		[PROTOCOL_FD_STDERR] = -1,
		[PROTOCOL_FD_LINK_IN] = !link ? -1 : link[0],
		[PROTOCOL_FD_LINK_OUT] = !link ? -1 : link[1],
	};
	size_t count = !link ? PROTOCOL_PLAIN_FDS : PROTOCOL_RUN_FDS;
	int status = make_fds(p, interpreter, &request, fds, err);

	if (status == 0)
		status = send_request(p, &request, fds, count, err);
	for (size_t i = 0; i < PROTOCOL_PLAIN_FDS; i++)
		if (fds[i] >= 0)
			io_close(fds[i]);
	return status;
}

/* --- the end --- */

void pump_drain(struct pump *p)
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

int pump_end_without_keeper(struct pump *p, struct error *err)
{
	int64_t now = clock_mono_ms();
	bool ran, late = now >= p->start_ms + p->job->limits.wall_ms;
	enum protocol_reason reason = p->killed ? p->reason :
				      late	? PROTOCOL_KILL_WALL :
						  PROTOCOL_NOT_KILLED;

	connection_kill(p->native, &ran);
	if (!ran || reason == PROTOCOL_NOT_KILLED) {
		err->begun = ran;
		return -1;
	}
	p->ended = true;
	drain_dying(p);
	*p->facts = (struct protocol_result){
		.kind = PROTOCOL_RESULT,
		.wall_us = (now - p->start_ms) * 1000,
		.user_us = -1000,
		.system_us = -1000,
		.peak_memory_bytes = -1,
		.peak_pids = -1,
		.written_bytes = -1,
		.reason = (uint32_t)reason,
	};
	return 0;
}

void pump_init(struct pump *p, struct native *s, const struct sandbox_job *job,
	       const struct sandbox_watch *watch)
{
	const struct sandbox_limits *l = &job->limits;

	*p = (struct pump){
		.native = s, .job = job, .watch = watch, .out_dir = -1, .port = { -1, -1, BUF_INIT(BUF_MAX_DEFAULT) }, .shared = { .tree = -1, .env = -1 },
		.facts = mem_alloc(sizeof(*p->facts)),
		.channels = {
			{ .fd = -1, .limit = l->stdout_bytes,
			  .kept = BUF_INIT((size_t)l->stdout_bytes) },
			{ .fd = -1, .limit = l->stderr_bytes, .is_stderr = true,
			  .kept = BUF_INIT((size_t)l->stderr_bytes) },
		},
	};
}

void pump_release(struct pump *p)
{
	for (size_t i = 0; i < 2; i++) {
		if (p->channels[i].fd >= 0)
			io_close(p->channels[i].fd);
		buf_release(&p->channels[i].kept);
	}
	port_close(&p->port);
	if (p->out_dir >= 0)
		io_close(p->out_dir);
	input_share_release(&p->shared);
	free(p->facts);
}
