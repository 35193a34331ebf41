/*
 * A program's descriptors 3 and 4 (struct sandbox_port): what it writes is handed on as it comes,
 * and it is read from again when it has taken the answer. Nothing of it is understood here, and
 * nothing blocks but who answers.
 */
#include "sandbox/native/port.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Pipes and no socket: over one of those a program could send descriptors. */
int port_open(struct port *port, int ret_link[2], struct error *err)
{
	int there[2];

	if (pipe2(there, O_CLOEXEC) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "pipe");
	int back[2];
	if (pipe2(back, O_CLOEXEC) < 0) {
		error_set_errno(err, ERR_SANDBOX, errno, "pipe");
		io_close(there[0]);
		io_close(there[1]);
		return -1;
	}
	port->in = there[0];
	port->out = back[1];
	ret_link[0] = back[0];
	ret_link[1] = there[1];
	if (fcntl(port->in, F_SETFL, O_NONBLOCK) < 0 || fcntl(port->out, F_SETFL, O_NONBLOCK) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "pipe");
	return 0;
}

void port_close(struct port *port)
{
	if (port->in >= 0)
		io_close(port->in);
	if (port->out >= 0)
		io_close(port->out);
	port->in = port->out = -1;
	buf_release(&port->answer);
	port->more = false;
}

void port_poll(const struct port *port, struct pollfd *ret_fds)
{
	bool answers = port->answer.len > 0 || port->more;

	ret_fds[0] = (struct pollfd){ .fd = answers ? -1 : port->in, .events = POLLIN };
	ret_fds[1] = (struct pollfd){ .fd = answers ? port->out : -1, .events = POLLOUT };
}

/* As much of the answer as the program has room for. One that reads no more has no port. */
static void put(struct port *port)
{
	while (port->answer.len > 0) {
		ssize_t n = io_write(port->out, port->answer.data, port->answer.len);

		if (n > 0) {
			buf_consume(&port->answer, (size_t)n);
			continue;
		}
		if (errno != EAGAIN)
			port_close(port);
		return;
	}
}

/* True: the program is to be stopped. */
static bool give(struct port *port, const struct sandbox_port *to, const char *bytes, size_t len,
		 int64_t deadline_ms)
{
	enum sandbox_port_step step = to->take(to->self, bytes, len, deadline_ms, &port->answer);

	port->more = step == SANDBOX_PORT_MORE;
	put(port);
	/* One that is stopped sees no end: it would go on by that until it is dead. */
	if (step == SANDBOX_PORT_CLOSED)
		port_close(port);
	return step == SANDBOX_PORT_STOP;
}

static bool get(struct port *port, const struct sandbox_port *to, int64_t deadline_ms)
{
	char bytes[16384];
	ssize_t n = io_read(port->in, bytes, sizeof(bytes));

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n > 0)
		return give(port, to, bytes, (size_t)n, deadline_ms);
	port_close(port);
	return false;
}

bool port_handle(struct port *port, const struct sandbox_port *to, int64_t deadline_ms,
		 const struct pollfd *fds)
{
	if (fds[1].revents != 0) {
		put(port);
		return port->more && port->answer.len == 0 && give(port, to, "", 0, deadline_ms);
	}
	if (fds[0].revents != 0)
		return get(port, to, deadline_ms);
	return false;
}
