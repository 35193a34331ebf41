/*
 * The near end's COMMAND: started with two pipes for the stream and one for its complaints,
 * greeted, given a copy of this program where it asks for one, and ended. What it complains of is
 * kept short and as plain text; nothing else here is read beyond the greeting.
 */
#include "sandbox/native/keeper/near.h"
#include "sandbox/native/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_US	    5000000 /* for COMMAND to end by itself */
#define COMPLAIN_US 500000  /* after the stream has ended */

extern char **environ;

/* --- complaints --- */

/* The last of it: what a program says first is often a banner. */
static void keep_said(struct near *n, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i] == '\n' ? ' ' : bytes[i];

		if (bytes[i] == '\r')
			continue;
		if (n->said_len == sizeof(n->said))
			memmove(n->said, n->said + 1, --n->said_len);
		n->said[n->said_len++] = c >= ' ' && c <= '~' ? c : '?';
	}
}

void near_read_errors(struct near *n)
{
	char bytes[4096];
	ssize_t len = read(n->errors, bytes, sizeof(bytes));

	if (len > 0)
		keep_said(n, bytes, (size_t)len);
	else if (len == 0 || (errno != EAGAIN && errno != EINTR))
		close_all(&n->errors, 1);
}

void near_wait_for_errors(struct near *n)
{
	int64_t until = now_us() + COMPLAIN_US;

	while (n->errors >= 0 && now_us() < until) {
		struct pollfd fd = { .fd = n->errors, .events = POLLIN };

		if (poll(&fd, 1, 50) > 0)
			near_read_errors(n);
	}
	while (n->said_len > 0 && n->said[n->said_len - 1] == ' ')
		n->said_len--;
}

void near_refuse(struct near *n, const char *why)
{
	static struct protocol_hello hello;
	size_t room = sizeof(hello.failure.remedy) - 1;

	hello = (struct protocol_hello){ .kind = PROTOCOL_HELLO, .version = PROTOCOL_VERSION };
	strncpy(hello.failure.step, why, sizeof(hello.failure.step) - 1);
	memcpy(hello.failure.remedy, n->said, n->said_len < room ? n->said_len : room);
	message_send(n->client, &hello, sizeof(hello), NULL, 0);
}

/* --- start --- */

static int spawn(struct near *n, char **command, int in, int out, int errors)
{
	const struct spawn_fd fds[] = { { in, 0 }, { out, 1 }, { errors, 2 } };

	errno = spawn_apart(command[0], command, environ, fds, 3, &n->transport);
	return errno == 0 ? 0 : -1;
}

static int start(struct near *n, char **command)
{
	int in[2], out[2], errors[2];

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0)
		return -1;
	if (spawn(n, command, in[0], out[1], errors[1]) < 0) {
		snprintf(n->said, sizeof(n->said), "%.300s: %s", command[0], strerror(errno));
		n->said_len = strlen(n->said);
		return -1;
	}
	close_all((int[]){ in[0], out[1], errors[1] }, 3);
	n->out.fd = in[1];
	n->in.fd = out[0];
	n->errors = errors[0];
	fcntl(n->out.fd, F_SETFL, O_NONBLOCK);
	fcntl(n->in.fd, F_SETFL, O_NONBLOCK);
	fcntl(n->errors, F_SETFL, O_NONBLOCK);
	return 0;
}

/* --- the greeting --- */

/* Waits for one of these; -1 when assay has ended meanwhile. It says nothing before the hello. */
static int wait_for(struct near *n, int fd, short events)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = n->client, .events = POLLRDHUP },
					{ .fd = fd, .events = events },
					{ .fd = n->errors, .events = POLLIN } };

		if (poll(fds, 3, -1) < 0 && errno != EINTR)
			return -1;
		if (fds[0].revents)
			return -1;
		if (fds[2].revents)
			near_read_errors(n);
		if (fds[1].revents)
			return 0;
	}
}

/* The line without its end, taken from what has come; false: none yet. */
static bool take_line(struct near *n, char ret[STREAM_LINE])
{
	const char *start = n->in.bytes + n->in.at;
	const char *end = memchr(start, '\n', n->in.have - n->in.at);
	size_t len = !end ? n->in.have - n->in.at : (size_t)(end + 1 - start);

	if (!end && len < STREAM_LINE - 1)
		return false;
	if (len > STREAM_LINE - 1)
		len = STREAM_LINE - 1;
	memcpy(ret, start, len);
	ret[len] = '\0';
	n->in.at += len;
	return true;
}

static int read_line(struct near *n, char ret[STREAM_LINE])
{
	while (!take_line(n, ret)) {
		if (wait_for(n, n->in.fd, POLLIN) < 0)
			return -1;
		if (stream_fill(&n->in) == 0)
			continue;
		near_wait_for_errors(n);
		near_lose(n, "the far end has ended before its keeper began");
		return -1;
	}
	return 0;
}

static int send_self(struct near *n)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char bytes[STREAM_PIECE];
	ssize_t len = -1;

	while (fd >= 0 && (len = read(fd, bytes, sizeof(bytes))) > 0) {
		ssize_t at;

		for (at = 0; at < len;) {
			ssize_t done = write(n->out.fd, bytes + at, (size_t)(len - at));

			at += done > 0 ? done : 0;
			if (done < 0 && errno == EAGAIN && wait_for(n, n->out.fd, POLLOUT) == 0)
				continue;
			if (done < 0)
				break;
		}
		if (at < len)
			break;
	}
	close_all(&fd, 1);
	return len == 0 ? 0 : -1;
}

static int greet(struct near *n)
{
	char wanted[STREAM_LINE];

	stream_greeting(wanted);
	char line[STREAM_LINE];
	if (read_line(n, line) < 0)
		return -1;
	if (!strcmp(line, STREAM_COPY) && (send_self(n) < 0 || read_line(n, line) < 0)) {
		near_wait_for_errors(n);
		near_lose(n, "the keeper could not be copied to the far end");
		return -1;
	}
	if (!strcmp(line, wanted)) {
		n->state = NEAR_STARTING;
		return 0;
	}
	if (!strncmp(line, "assay-stream ", 13)) {
		near_lose(n, "the keeper at the far end is of another version");
		return -1;
	}
	keep_said(n, line, strlen(line));
	near_lose(n, "the far end said something else than a keeper does");
	return -1;
}

/* --- the end --- */

/* All that COMMAND started ends with the stream; it has time to clean up. */
static void end_transport(struct near *n)
{
	int64_t until = now_us() + END_US;

	close_all((int[]){ n->out.fd, n->in.fd }, 2);
	if (n->transport <= 0)
		return;
	while (waitpid(n->transport, NULL, WNOHANG) == 0) {
		if (now_us() > until + END_US)
			kill(n->transport, SIGKILL);
		else if (now_us() > until)
			kill(n->transport, SIGTERM);
		if (n->errors >= 0)
			near_read_errors(n);
		poll(NULL, 0, 2);
	}
}

int near_main(char **command)
{
	static struct near n = {
		.in.fd = -1,
		.out.fd = -1,
		.link = { .source = -1, .sink = -1 },
		.client = PROTOCOL_FD,
		.errors = -1,
		.job = { -1, -1 },
		.output = { -1, -1 },
		.left = -1,
	};

	signal(SIGPIPE, SIG_IGN);
	fcntl(PROTOCOL_FD, F_SETFD, FD_CLOEXEC);
	fcntl(PROTOCOL_STARTED_FD, F_SETFD, FD_CLOEXEC);
	if (start(&n, command) < 0)
		near_lose(&n, "the far end could not be started");
	else if (greet(&n) == 0)
		near_serve(&n);
	close_all(&n.client, 1);
	end_transport(&n);
	return 0;
}
