/*
 * The near end of a stream (stream.h): a keeper to assay, whose keeper is somewhere else. It alone
 * reads what the far end says, which may be anything: a far end that does not keep to the protocol
 * is an end of the stream, and a run that was going on then has failed. It holds no key.
 */
#include "sandbox/native/keeper/near.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_US	   200000 /* between two words of progress */
#define BUSY_BYTES 65536  /* less than that is none */

enum { ON_CLIENT, ON_IN, ON_OUT, ON_STDOUT, ON_STDERR, ON_ERRORS, ON_LINK, ON_FDS = ON_LINK + 2 };

static int violated(struct near *n)
{
	near_lose(n, "the far end does not speak as a keeper does");
	return -1;
}

/* --- a run --- */

static void forget_run(struct near *n)
{
	close_all(n->job, 2);
	close_all(n->output, 2);
	close_all(&n->left, 1);
	n->has_held = false;
}

void near_lose(struct near *n, const char *why)
{
	static struct protocol_result r;

	if (n->lost)
		return;
	n->lost = true;
	if (n->state < NEAR_IDLE)
		near_refuse(n, why);
	/* What was to be ended and ran has: assay knows why. Of all else, nobody knows. */
	if (n->state < NEAR_SENDING || (n->killed && n->ran))
		return;
	r = (struct protocol_result){ .kind = PROTOCOL_RESULT };
	strncpy(r.failure.step, why, sizeof(r.failure.step) - 1);
	size_t len = n->said_len < sizeof(r.failure.remedy) - 1 ? n->said_len :
								  sizeof(r.failure.remedy) - 1;
	memcpy(r.failure.remedy, n->said, len);
	message_send(n->client, &r, sizeof(r), NULL, 0);
}

static int begin(struct near *n, int *fds)
{
	struct stream_run run = { .request = n->request };
	struct stat payload, in;

	if (fds[PROTOCOL_FD_STDERR] < 0 || fstat(fds[PROTOCOL_FD_PAYLOAD], &payload) < 0 ||
	    fstat(fds[PROTOCOL_FD_STDIN], &in) < 0)
		return -1;
	link_close(&n->link);
	n->job[0] = fds[PROTOCOL_FD_PAYLOAD];
	n->job[1] = fds[PROTOCOL_FD_STDIN];
	fds[PROTOCOL_FD_PAYLOAD] = fds[PROTOCOL_FD_STDIN] = -1;
	for (int i = 0; i < 2; i++) {
		n->output[i] = fds[PROTOCOL_FD_STDOUT + i];
		fds[PROTOCOL_FD_STDOUT + i] = -1;
		fcntl(n->output[i], F_SETFL, O_NONBLOCK);
		n->sent[i] = n->came[i] = 0;
	}
	run.request.waiting = run.request.forks = 0;
	run.payload_len = (uint64_t)payload.st_size;
	run.has_stdin = S_ISREG(in.st_mode);
	run.stdin_len = run.has_stdin ? (uint64_t)in.st_size : 0;
	run.linked = fds[PROTOCOL_FD_LINK_OUT] >= 0;
	if (run.linked) {
		link_open(&n->link, fds[PROTOCOL_FD_LINK_IN], fds[PROTOCOL_FD_LINK_OUT]);
		fds[PROTOCOL_FD_LINK_IN] = fds[PROTOCOL_FD_LINK_OUT] = -1;
	}
	n->to_send[0] = run.payload_len;
	n->to_send[1] = run.stdin_len;
	n->ran = n->killed = false;
	n->left_len = 0;
	n->progress = 0;
	n->state = NEAR_SENDING;
	return stream_put(&n->out, STREAM_RUN, 0, &run, sizeof(run));
}

/* One piece of the job, by its place: the descriptor's own is shared. */
static int send_job(struct near *n)
{
	unsigned i = n->sent[0] < n->to_send[0] ? 0 : 1;

	if (n->state != NEAR_SENDING || !stream_has_room(&n->out))
		return 0;
	if (n->sent[i] < n->to_send[i]) {
		char bytes[STREAM_PIECE];
		uint64_t more = n->to_send[i] - n->sent[i];

		ssize_t len = pread(n->job[i], bytes, more < sizeof(bytes) ? more : sizeof(bytes),
				    (off_t)n->sent[i]);
		if (len <= 0 || stream_put(&n->out, STREAM_DATA, i, bytes, (size_t)len) < 0)
			return -1;
		n->sent[i] += (uint64_t)len;
		n->progress += (uint64_t)len;
	}
	if (n->sent[0] == n->to_send[0] && n->sent[1] == n->to_send[1]) {
		n->state = NEAR_RUNNING;
		close_all(n->job, 2);
	}
	return 0;
}

/* --- what assay says --- */

static int order(struct near *n, uint32_t reason)
{
	if (n->state < NEAR_SENDING)
		return 0; /* it came after the end it wanted */
	n->killed = true;
	if (n->state == NEAR_SENDING)
		close_all(n->job, 2);
	n->state = NEAR_RUNNING;
	return stream_put(&n->out, STREAM_KILL, 0, &reason, sizeof(reason));
}

static int ask(struct near *n, const struct protocol_find *find)
{
	n->state = NEAR_FINDING;
	return stream_put(&n->out, STREAM_FIND, 0, find->path,
			  strnlen(find->path, sizeof(find->path) - 1));
}

static int read_client(struct near *n)
{
	static union {
		uint32_t kind;
		struct protocol_request request;
		struct protocol_find find;
	} m;
	int fds[PROTOCOL_RUN_FDS];
	ssize_t len = message_receive(n->client, &m, sizeof(m), fds, PROTOCOL_RUN_FDS);

	if (len <= 0)
		return -1;
	int status = 0;
	if (len == sizeof(m.find) && m.kind == PROTOCOL_FIND && n->state == NEAR_IDLE) {
		status = ask(n, &m.find);
	} else if (len == sizeof(m.request) && m.kind == PROTOCOL_KILL) {
		status = order(n, m.request.reason);
	} else if (len == sizeof(m.request) && m.kind == PROTOCOL_RUN && n->state == NEAR_IDLE) {
		n->request = m.request;
		status = begin(n, fds);
	} /* a PREPARE is a hint */
	close_all(fds, PROTOCOL_RUN_FDS);
	return status;
}

/* --- what the far end says --- */

static int take_hello(struct near *n, const struct stream_frame *f)
{
	static struct protocol_hello hello;

	if (n->state != NEAR_STARTING || !stream_is(f, &hello, sizeof(hello)) ||
	    stream_check_hello(&hello) < 0)
		return -1;
	n->state = NEAR_IDLE;
	return message_send(n->client, &hello, sizeof(hello), NULL, 0);
}

static int take_found(struct near *n, const struct stream_frame *f)
{
	static struct protocol_find found;

	if (n->state != NEAR_FINDING || f->len >= sizeof(found.path) ||
	    memchr(f->bytes, '\0', f->len))
		return -1;
	found = (struct protocol_find){ .kind = PROTOCOL_FOUND };
	memcpy(found.path, f->bytes, f->len);
	n->state = NEAR_IDLE;
	return message_send(n->client, &found, sizeof(found), NULL, 0);
}

/* What limits allow, and an entry for each that is only named. */
static uint64_t left_max(const struct near *n)
{
	int64_t bytes = n->request.artifact_bytes;

	return (uint64_t)(bytes < 0 ? 0 : bytes) +
	       (LEFT_ENTRIES_MAX + 2ull) * (sizeof(struct protocol_left) + PROTOCOL_PATH_MAX);
}

static int take_left(struct near *n, const struct stream_frame *f)
{
	if (n->left < 0)
		n->left = memfd_create("assay-left", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (n->left < 0 || f->len > left_max(n) - n->left_len)
		return -1;
	size_t done = 0;
	while (done < f->len) {
		ssize_t len = write(n->left, f->bytes + done, f->len - done);

		if (len < 0)
			return -1;
		done += (size_t)len;
	}
	n->left_len += f->len;
	n->progress += f->len;
	return 0;
}

static int take_data(struct near *n, const struct stream_frame *f)
{
	if (f->which == STREAM_LINK)
		return link_take(&n->link, f);
	if (n->state != NEAR_RUNNING && n->state != NEAR_SENDING)
		return -1;
	if (f->which == STREAM_LEFT)
		return take_left(n, f);
	if (f->which != STREAM_STDOUT && f->which != STREAM_STDERR)
		return -1;
	n->came[f->which - STREAM_STDOUT] += f->len;
	n->held = *f;
	n->has_held = n->output[f->which - STREAM_STDOUT] >= 0;
	return 0;
}

/* A result counts when it is whole: all that was sent has come, and what ran has run. */
static int take_result(struct near *n, const struct stream_frame *f)
{
	static struct stream_result all;

	if (n->state != NEAR_RUNNING || !stream_is(f, &all, sizeof(all)) ||
	    stream_check_result(&all.result) < 0)
		return -1;
	bool failed = all.result.failure.step[0] != '\0';
	bool listed = all.left_len != STREAM_NO_LEFT;
	if (all.out_len != n->came[0] || all.err_len != n->came[1] ||
	    (listed ? all.left_len : 0) != n->left_len ||
	    (!failed && !n->ran && (all.result.has_status || listed || !n->killed)))
		return -1;
	if (listed && n->left < 0)
		n->left = memfd_create("assay-left", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int status = listed && n->left < 0 ?
			     -1 :
			     message_send(n->client, &all.result, sizeof(all.result), &n->left,
					  listed && !failed ? 1 : 0);
	n->state = NEAR_IDLE;
	n->progress = 0;
	forget_run(n);
	close_all(&n->link.source, 1);
	return status;
}

int near_take(struct near *n, const struct stream_frame *f)
{
	const uint64_t one = 1;

	switch (f->kind) {
	case STREAM_HELLO:
		return take_hello(n, f);
	case STREAM_FOUND:
		return take_found(n, f);
	case STREAM_RAN:
		if (n->state != NEAR_RUNNING || f->len > 0 || n->ran)
			return -1;
		n->ran = true;
		(void)!write(PROTOCOL_STARTED_FD, &one, sizeof(one));
		return 0;
	case STREAM_DATA:
		return take_data(n, f);
	case STREAM_END:
	case STREAM_BROKEN:
	case STREAM_CREDIT:
		return f->which == STREAM_LINK ? link_take(&n->link, f) : -1;
	case STREAM_RESULT:
		return take_result(n, f);
	case STREAM_FIND:
	case STREAM_RUN:
	case STREAM_KILL:
	case STREAM_KINDS:
		break;
	}
	return -1;
}

/* Output goes on before anything that was sent after it is looked at. */
static void write_held(struct near *n)
{
	int *to = &n->output[n->held.which - STREAM_STDOUT];
	ssize_t len = write(*to, n->held.bytes, n->held.len);

	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len < 0) {
		close_all(to, 1); /* nobody reads it any more */
		len = (ssize_t)n->held.len;
	}
	n->held.bytes += len;
	n->held.len -= (size_t)len;
	n->has_held = n->held.len > 0;
}

static int take_frames(struct near *n)
{
	struct stream_frame f;
	int more = 0;

	while (!n->has_held && (more = stream_next(&n->in, &f)) > 0) {
		if (near_take(n, &f) < 0)
			return violated(n);
		if (n->has_held)
			write_held(n);
	}
	return more < 0 ? violated(n) : 0;
}

/* --- the loop --- */

static void fill_polls(const struct near *n, struct pollfd *ret)
{
	ret[ON_CLIENT] = (struct pollfd){ .fd = n->client, .events = POLLIN };
	ret[ON_IN] = (struct pollfd){ .fd = n->has_held ? -1 : n->in.fd, .events = POLLIN };
	ret[ON_OUT] = (struct pollfd){ .fd = stream_is_empty(&n->out) ? -1 : n->out.fd,
				       .events = POLLOUT };
	for (unsigned i = 0; i < 2; i++) {
		bool held = n->has_held && n->held.which == STREAM_STDOUT + i;

		ret[ON_STDOUT + i] =
			(struct pollfd){ .fd = held ? n->output[i] : -1, .events = POLLOUT };
	}
	ret[ON_ERRORS] = (struct pollfd){ .fd = n->errors, .events = POLLIN };
	link_poll(&n->link, &n->out, &ret[ON_LINK]);
}

static int handle(struct near *n, const struct pollfd *fds)
{
	if (fds[ON_ERRORS].revents)
		near_read_errors(n);
	if ((fds[ON_STDOUT].revents || fds[ON_STDERR].revents) && n->has_held)
		write_held(n);
	if (fds[ON_CLIENT].revents && read_client(n) < 0)
		return -1;
	if (link_handle(&n->link, &n->out, &fds[ON_LINK]) < 0)
		return violated(n);
	if (fds[ON_IN].revents && stream_fill(&n->in) < 0) {
		near_wait_for_errors(n);
		near_lose(n, "the far end has ended");
		return -1;
	}
	if (take_frames(n) < 0 || send_job(n) < 0)
		return -1;
	if (stream_flush(&n->out) < 0) {
		near_wait_for_errors(n);
		near_lose(n, "the far end has ended");
		return -1;
	}
	return 0;
}

/* assay waits for an answer for so long after each word of progress. */
static void tell_busy(struct near *n)
{
	const struct protocol_busy busy = { .kind = PROTOCOL_BUSY };

	if (n->progress < BUSY_BYTES || now_us() - n->busy_us < BUSY_US)
		return;
	n->progress = 0;
	n->busy_us = now_us();
	message_send(n->client, &busy, sizeof(busy), NULL, 0);
}

void near_serve(struct near *n)
{
	if (take_frames(n) < 0) /* that came with the greeting */
		return;
	struct pollfd fds[ON_FDS];
	do {
		bool more = n->state == NEAR_SENDING && stream_has_room(&n->out);

		tell_busy(n);
		fill_polls(n, fds);
		if (poll(fds, ON_FDS, more ? 0 : -1) < 0 && errno != EINTR)
			return;
	} while (handle(n, fds) == 0);
}
