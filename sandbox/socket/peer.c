/*
 * HTTP/1.0 over a socket of the user's own: one request, and an answer that ends with the
 * connection. Who listens is looked at before a byte is sent. Nothing is asked twice here, and no
 * library is loaded for it: that takes longer than a run.
 */
#include "sandbox/socket/peer.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define HEAD_MAX	((size_t)64 << 10) /* of an answer; of a refusal with its body */
#define CANCEL_MS	5000		   /* for the result of what was cancelled */
#define READ_MAX	((size_t)64 << 10)
#define STATUS_TOO_MANY 429
#define STATUS_NOT_NOW	503

/* --- who is there --- */

static int check_socket(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "--socket %s", path);
	if (!S_ISSOCK(st.st_mode))
		return error_set(err, ERR_SANDBOX, "--socket %s is no socket", path);
	if (st.st_uid != geteuid())
		return error_set(err, ERR_SANDBOX,
				 "--socket %s is another user's (uid %u): nothing is run there",
				 path, (unsigned)st.st_uid);
	if ((st.st_mode & 07777 & ~(mode_t)0600) != 0)
		return error_set(err, ERR_SANDBOX,
				 "--socket %s is open to others (mode %04o, not 0600): nothing is "
				 "run there; chmod 600 it, if `assay serve` of yours made it",
				 path, (unsigned)(st.st_mode & 07777));
	return 0;
}

/* Of the socket there is now, whatever was looked at before. */
static int check_listener(int fd, const char *path, struct error *err)
{
	struct ucred who = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 || who.uid != geteuid())
		return error_set(err, ERR_SANDBOX,
				 "--socket %s: another user listens there (uid %u): nothing is run "
				 "there",
				 path, (unsigned)who.uid);
	return 0;
}

int peer_connect(const char *path, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERR_USAGE, "--socket %s: the path is longer than %zu bytes",
				 path, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (check_socket(path, err) < 0)
		return -1;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0) {
		if (check_listener(fd, path, err) == 0)
			return fd;
	} else {
		error_set_errno(err, ERR_SANDBOX, errno, "--socket %s", path);
	}
	if (fd >= 0)
		io_close(fd);
	return -1;
}

/* --- one request --- */

struct exchange {
	int fd, cancel_fd;
	int64_t deadline_ms;
	bool cancelled;
	struct events *events;
	struct buf head; /* until its end has come; of a refusal all */
	long status;	 /* 0: not known yet */
	struct error *err;
};

/* Until something can be sent (POLLOUT) or has come; false with the end. */
static bool wait_for(struct exchange *x, short what, enum peer_end *ret)
{
	struct pollfd p[] = { { .fd = x->fd, .events = what },
			      { .fd = x->cancelled ? -1 : x->cancel_fd, .events = POLLIN } };

	for (;;) {
		int64_t left = x->deadline_ms - clock_mono_ms();

		if (left <= 0) {
			*ret = x->cancelled ? PEER_CANCELLED : PEER_LATE;
			error_set(x->err, ERR_SANDBOX, "the server does not answer");
			return false;
		}
		if (poll(p, 2, left > 60000 ? 60000 : (int)left) < 0 && errno != EINTR)
			p[0].revents = POLLERR;
		if (p[1].revents) {
			*ret = PEER_CANCELLED;
			if (what == POLLOUT)
				return false;
			x->cancelled = true; /* it sees that nothing more will come, and ends it */
			x->deadline_ms = clock_mono_ms() + CANCEL_MS;
			p[1] = (struct pollfd){ .fd = -1 };
			shutdown(x->fd, SHUT_WR);
		}
		if (p[0].revents)
			return true;
	}
}

static enum peer_end ended(struct exchange *x, enum peer_end end, int errnum)
{
	if (errnum)
		error_set_errno(x->err, ERR_SANDBOX, errnum, "the server went");
	else
		error_set(x->err, ERR_SANDBOX, "the server closed the connection");
	return x->cancelled ? PEER_CANCELLED : end;
}

/* PEER_ANSWERED: all is sent. */
static enum peer_end send_all(struct exchange *x, const char *bytes, size_t len)
{
	while (len > 0) {
		enum peer_end end;

		if (!wait_for(x, POLLOUT, &end))
			return end == PEER_LATE ? PEER_ABSENT : end;
		ssize_t n = send(x->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return ended(x, PEER_ABSENT, errno);
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
	return PEER_ANSWERED;
}

/* False: it is no answer, or one too large. */
static bool take(struct exchange *x, const char *bytes, size_t len)
{
	if (x->status == 200)
		return events_take(x->events, bytes, len);
	if (buf_add(&x->head, bytes, len) < 0)
		return false;
	const char *end = memmem(x->head.data, x->head.len, "\r\n\r\n", 4);
	if (!end || x->status)
		return true;
	x->status = strncmp(x->head.data, "HTTP/1.", 7) ? -1 : strtol(x->head.data + 8, NULL, 10);
	size_t head = (size_t)(end - x->head.data) + 4;
	buf_consume(&x->head, head);
	return x->status == 200 ? events_take(x->events, x->head.data, x->head.len) :
				  x->status >= 400;
}

static enum peer_end refused(struct exchange *x)
{
	cleanup_free char *said = call_message(&x->head);

	error_set(x->err, ERR_SANDBOX, "the server answers %ld: %s", x->status, said);
	return x->status == STATUS_TOO_MANY || x->status == STATUS_NOT_NOW ? PEER_BUSY :
									     PEER_REFUSED;
}

static enum peer_end hear(struct exchange *x)
{
	cleanup_free char *bytes = mem_alloc(READ_MAX);

	while (!x->events->answer) {
		enum peer_end end;

		if (!wait_for(x, POLLIN, &end))
			return end;
		ssize_t n = recv(x->fd, bytes, READ_MAX, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0 && x->status >= 400)
			return refused(x);
		if (n <= 0)
			return ended(x, PEER_LOST, n < 0 ? errno : 0);
		if (!take(x, bytes, (size_t)n)) {
			error_set(x->err, ERR_SANDBOX, "what answers is no `assay serve`");
			return PEER_LOST;
		}
	}
	return PEER_ANSWERED;
}

enum peer_end peer_post(int fd, const char *body, int64_t deadline_ms, int cancel_fd,
			struct events *events, struct error *err)
{
	cleanup_free char *head = mem_printf("POST /sandbox HTTP/1.0\r\n"
					     "Content-Type: application/json\r\n"
					     "Accept: text/event-stream\r\n"
					     "Content-Length: %zu\r\n\r\n",
					     strlen(body));
	struct exchange x = { .fd = fd,
			      .cancel_fd = cancel_fd,
			      .deadline_ms = deadline_ms,
			      .events = events,
			      .head = BUF_INIT(HEAD_MAX),
			      .err = err };
	enum peer_end end = send_all(&x, head, strlen(head));

	if (end == PEER_ANSWERED)
		end = send_all(&x, body, strlen(body));
	if (end == PEER_ANSWERED)
		end = hear(&x);
	buf_release(&x.head);
	io_close(fd);
	return end;
}
