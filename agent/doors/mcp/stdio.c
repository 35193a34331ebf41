/*
 * One client at the other end of two pipes, a message a line (the stdio transport). A line that is
 * too long is refused and passed over, never kept; a client that does not read is not waited for
 * once everything is to end.
 */
#include "agent/doors/mcp/mcp.h"

#include "agent/doors/mcp/message.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_BYTES  65536
#define WRITE_BYTES 4096 /* PIPE_BUF: a pipe that poll says is writable takes as much at once */

struct stdio {
	struct peer *peer;
	int in, out, cancel_fd;
	int end_fd;  /* readable: nothing more is written */
	bool broken; /* out */
	struct buf line;
	bool skipping; /* the rest of a line that was refused */
};

/* --- out --- */

static ssize_t write_some(int fd, const char *bytes, size_t len)
{
	ssize_t n = send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n < 0 && errno == ENOTSOCK ? io_write(fd, bytes, len) : n;
}

static bool write_all(const struct stdio *s, const char *bytes, size_t len)
{
	struct pollfd fds[] = { { .fd = s->out, .events = POLLOUT },
				{ .fd = s->end_fd, .events = POLLIN },
				{ .fd = s->cancel_fd, .events = POLLIN } };

	while (len) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		/* A signal waits for nobody who does not read; to one who does, the rest is said.
		 */
		if (fds[1].revents || (fds[2].revents && !(fds[0].revents & POLLOUT)))
			return false;
		if (!fds[0].revents)
			continue;
		ssize_t n = write_some(s->out, bytes, len < WRITE_BYTES ? len : WRITE_BYTES);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return false;
		bytes += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static void stop_writing(struct stdio *s)
{
	uint64_t one = 1;

	(void)!io_write(s->end_fd, &one, sizeof(one));
}

/* One at a time, as the peer's sink. */
static void send_line(void *self, const struct json *message)
{
	struct stdio *s = self;
	cleanup_free char *text = json_print(message);
	size_t len = strlen(text);

	text[len] = '\n'; /* in place of the NUL: a message is one write where it can be */
	if (!s->broken && !write_all(s, text, len + 1)) {
		s->broken = true;
		stop_writing(s);
	}
}

/* --- in --- */

static void take_line(struct stdio *s, const char *bytes, size_t len)
{
	size_t blank = 0;

	while (blank < len && strchr(" \t\r", bytes[blank]) && bytes[blank])
		blank++;
	if (blank < len)
		peer_message(s->peer, bytes, len);
}

/* Bytes up to the end of a line, or as many as there are. */
static void take_bytes(struct stdio *s, const char *bytes, size_t len, bool ends)
{
	if (!s->skipping && buf_add(&s->line, bytes, len) < 0) {
		s->skipping = true;
		peer_refuse(s->peer, "the message is larger than is taken");
	}
	if (!ends)
		return;
	if (!s->skipping)
		take_line(s, s->line.data, s->line.len);
	s->skipping = false;
	buf_release(&s->line); /* not what the largest one took */
}

static void take(struct stdio *s, const char *bytes, size_t len)
{
	while (len) {
		const char *end = memchr(bytes, '\n', len);
		take_bytes(s, bytes, end ? (size_t)(end - bytes) : len, end != NULL);
		len -= end ? (size_t)(end + 1 - bytes) : len;
		bytes = end ? end + 1 : bytes;
	}
}

/* False at the end. */
static bool read_some(struct stdio *s)
{
	char bytes[READ_BYTES];
	ssize_t n = io_read(s->in, bytes, sizeof(bytes));

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n > 0)
		take(s, bytes, (size_t)n);
	else if (s->line.len) /* the last line may lack its end */
		take_bytes(s, "", 0, true);
	return n > 0;
}

/* --- until it ends --- */

/* True when all is to be cancelled. */
static bool serve(struct stdio *s)
{
	struct pollfd fds[] = { { .fd = s->in, .events = POLLIN },
				{ .fd = s->cancel_fd, .events = POLLIN },
				{ .fd = peer_fd(s->peer), .events = POLLIN },
				{ .fd = s->end_fd, .events = POLLIN } };

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return true;
		}
		if (fds[1].revents || fds[3].revents)
			return true;
		if (fds[0].revents && !read_some(s)) {
			fds[0].fd = -1; /* what is under way is answered still */
			peer_leaves(s->peer);
		}
		if (!peer_busy(s->peer) && fds[0].fd < 0)
			return false;
		fds[0].revents = 0;
	}
}

int mcp_stdio(struct mcp *mcp, int in, int out, int cancel_fd, struct error *err)
{
	struct stdio s = { .in = in,
			   .out = out,
			   .cancel_fd = cancel_fd,
			   .end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
			   .line = BUF_INIT(MESSAGE_BYTES_MAX) };
	const struct peer_sink sink = { send_line, &s };

	if (s.end_fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "eventfd");
	s.peer = peer_new(mcp, &sink, NULL);
	if (serve(&s)) {
		stop_writing(&s);
		peer_cancel(s.peer);
	}
	peer_free(s.peer);
	buf_release(&s.line);
	io_close(s.end_fd);
	return 0;
}
