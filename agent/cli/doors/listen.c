/*
 * Making sockets that listen. No name is looked up: an address is written as numbers, so that what
 * is opened is what was meant.
 */
#include "agent/cli/doors/listen.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG	   128
#define HERE	   "127.0.0.1"
#define PRIVATE_UP 0177 /* what is taken away: 0600 is left */
#define DYING_MS   2000 /* that one may need to let go which was killed */
#define LOOK_MS	   20

static int bad_address(const char *text, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "--listen \"%.100s\": ADDRESS:PORT in numbers is wanted, as "
			 "127.0.0.1:8317, [::1]:8317 or 0.0.0.0:8317; a PORT alone is on this "
			 "machine, 0 is any that is free",
			 text);
}

/* Host and port of text; the host without brackets. */
static int split(const char *text, char **ret_host, const char **ret_port, struct error *err)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;

	*ret_port = colon ? colon + 1 : text;
	if (!**ret_port || (*ret_port)[strspn(*ret_port, "0123456789")] ||
	    strtoul(*ret_port, NULL, 10) > 65535)
		return bad_address(text, err);
	if (!colon)
		*ret_host = mem_strdup(HERE);
	else if (len > 2 && *text == '[' && text[len - 1] == ']')
		*ret_host = mem_strndup(text + 1, len - 2);
	else
		*ret_host = mem_strndup(text, len);
	return 0;
}

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		struct sockaddr_in v4;

		memcpy(&v4, address, sizeof(v4));
		return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
	}
	struct sockaddr_in6 v6;
	memcpy(&v6, address, sizeof(v6));
	return IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

static char *address_of(int fd)
{
	struct sockaddr_storage address = { .ss_family = AF_UNSPEC };
	socklen_t size = sizeof(address);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getsockname(fd, (struct sockaddr *)&address, &size) < 0 ||
	    getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return mem_strdup("?");
	return mem_printf(strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
}

static int open_at(const struct addrinfo *at, const char *text, struct error *err)
{
	int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "--listen %s", text);
	int one = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0) {
		error_set_errno(err, ERR_FAILED, errno, "--listen %s", text);
		io_close(fd);
		return -1;
	}
	return fd;
}

static bool is_ready(int fd, short events, int64_t until_ms)
{
	struct pollfd one = { .fd = fd, .events = events };
	int64_t left = until_ms - clock_mono_ms();

	return poll(&one, 1, left > 0 ? (int)left : 0) > 0;
}

/* Whether who listens there says anything to a request. That it can be connected to shows nothing:
 * the kernel takes connections for a process that is about to end. */
static bool answers(const struct sockaddr *at, socklen_t len, int64_t until_ms)
{
	static const char request[] = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int fd = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char first;

	if (fd < 0)
		return false;
	bool answered = (connect(fd, at, len) == 0 || errno == EINPROGRESS) &&
			is_ready(fd, POLLOUT, until_ms) &&
			send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) > 0 &&
			is_ready(fd, POLLIN, until_ms) && recv(fd, &first, 1, 0) > 0;
	io_close(fd);
	return answered;
}

/* A server dies a moment after the process that was started, where that is killed: who starts
 * another one at once is not told that the place is taken. One that lives answers. */
static bool wait_for_dying(const struct sockaddr *at, socklen_t len, int64_t until_ms,
			   struct error *err)
{
	if (err->errnum != EADDRINUSE || clock_mono_ms() >= until_ms || answers(at, len, until_ms))
		return false;
	poll(NULL, 0, LOOK_MS);
	*err = (struct error)ERROR_INIT;
	return true;
}

int listen_address(const char *text, char **ret_address, bool *ret_local, struct error *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	cleanup_free char *host = NULL;
	const char *port;

	if (split(text, &host, &port, err) < 0)
		return -1;
	struct addrinfo *found = NULL;
	if (getaddrinfo(host, port, &hints, &found) != 0)
		return bad_address(text, err);
	*ret_local = is_loopback(found->ai_addr);
	int64_t until_ms = clock_mono_ms() + DYING_MS;
	int fd;
	do
		fd = open_at(found, text, err);
	while (fd < 0 && wait_for_dying(found->ai_addr, found->ai_addrlen, until_ms, err));
	freeaddrinfo(found);
	if (fd >= 0)
		*ret_address = address_of(fd);
	return fd;
}

/* Left by a server that was killed. */
static void remove_stale(const struct sockaddr_un *address)
{
	struct stat st;

	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno == ECONNREFUSED)
		io_unlink(address->sun_path);
	if (fd >= 0)
		io_close(fd);
}

static void remember(struct listen_place *ret, const char *path)
{
	struct stat st;

	if (lstat(path, &st) == 0)
		*ret = (struct listen_place){ path, st.st_dev, st.st_ino };
}

static int open_path(const struct sockaddr_un *address, struct error *err)
{
	const char *path = address->sun_path;

	remove_stale(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* The process's: what another thread makes meanwhile is private, too. */
	mode_t before = umask(PRIVATE_UP);
	int rc = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)address, sizeof(*address));
	umask(before);
	if (rc == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error_set_errno(err, ERR_FAILED, errno, "--socket %s", path);
	if (fd >= 0)
		io_close(fd);
	return -1;
}

int listen_path(const char *path, struct listen_place *ret, struct error *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERR_USAGE, "--socket %s: the path is longer than %zu bytes",
				 path, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path) + 1);
	int64_t until_ms = clock_mono_ms() + DYING_MS;
	int fd;
	do
		fd = open_path(&address, err);
	while (fd < 0 &&
	       wait_for_dying((const struct sockaddr *)&address, sizeof(address), until_ms, err));
	if (fd >= 0)
		remember(ret, path);
	return fd;
}

void listen_leave(const struct listen_place *place)
{
	struct stat st;

	if (place->path && lstat(place->path, &st) == 0 && st.st_dev == place->device &&
	    st.st_ino == place->inode)
		io_unlink(place->path);
}
