/* Bytes on a connection, to the server as it is: libmicrohttpd reads them, and what it makes of
 * them is admitted, kept and answered. All workers are busy, so that what needs one is refused.
 *
 * What comes back begins as HTTP does; nobody is served whose bytes have no key; and when the
 * connection is gone nothing of it is held. */
#include "agent/doors/e2b/box.h"
#include "agent/doors/e2b/e2b.h"
#include "agent/doors/http/server.h"
#include "tests/fuzz/busy.h"
#include "tests/unit/test_service_ends.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define KEY	   "assay-0123456789abcdef"
#define ROUTES_MAX 64
#define END_MS	   8000 /* in which it is over, whatever was sent */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct server *server;
static struct guard guard;
static struct route routes[ROUTES_MAX];
static struct sockaddr_un place = { .sun_family = AF_UNIX };
static socklen_t place_len;

/* Those that do not read the log, which is none. */
static void choose_routes(void)
{
	size_t count = 0;

	for (const struct route *r = http_routes; r->method; r++)
		if (!(r->flags & HTTP_LOOKS))
			routes[count++] = *r;
}

/* An address that is a name, and no file. */
static int start_listening(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int n = snprintf(place.sun_path + 1, sizeof(place.sun_path) - 1, "assay-fuzz-%d", getpid());

	place_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	if (bind(fd, (struct sockaddr *)&place, place_len) < 0 || listen(fd, 16) < 0)
		abort();
	return fd;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static struct contexts_options limits = { .most = 4,
						  .idle_ms = 3600000,
						  .life_ms = 3600000 };
	static struct service_ends ends = { .open_sandbox = no_sandbox, .open_log = no_log };
	static struct guard_key key = { .owner = "key:first" };
	static struct work busy;
	static const struct route *const lists[] = { routes, NULL };
	static struct guests guests;
	static struct policy policy;
	struct error err = ERROR_INIT;

	(void)argc;
	(void)argv;
	policy_init(&policy);
	const struct service_options options = {
		.policy = &policy, .ends = &ends, .parallel = 1, .contexts = limits
	};
	struct server_options serving = { .guard = &guard, .routes = lists, .guests = &guests };
	if (service_open(&serving.service, &options, &err) < 0)
		abort();
	busy_keep(serving.service, &busy);
	hash_sha256(KEY, strlen(KEY), key.digest);
	guard = (struct guard){ .keys = &key, .count = 1 };
	choose_routes();
	const struct mcp_options mcp = { .service = serving.service };
	serving.listen_fd = start_listening();
	struct boxes *boxes;
	boxes_open(&boxes, service_contexts(serving.service), &limits, NULL);
	e2b_guests(&guests, boxes);
	if (mcp_open(&serving.mcp, &mcp, &err) < 0 || server_open(&server, &serving, &err) < 0)
		abort();
	return 0;
}

/* In two pieces, and nothing behind them. The server may have seen enough before that. */
static void send_all(int fd, const uint8_t *data, size_t size)
{
	size_t half = size ? *data * size / 256 : 0;

	if (send(fd, data, half, MSG_NOSIGNAL) == (ssize_t)half)
		(void)!send(fd, data + half, size - half, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
}

/* What came first, as a text. */
static void receive_all(int fd, char *text, size_t room)
{
	char rest[4096];
	size_t len = 0;
	ssize_t n;

	while ((n = recv(fd, len < room - 1 ? text + len : rest,
			 len < room - 1 ? room - 1 - len : sizeof(rest), 0)) > 0)
		len += len < room - 1 ? (size_t)n : 0;
	text[len] = '\0';
}

/* Whether a client might have come in: with its key, in whatever it is written, or where none is
 * asked for. */
static bool is_let_in(const uint8_t *data, size_t size)
{
	static const char *const ways[] = { KEY, "%", "/health", "/v1/ping" };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		if (memmem(data, size, ways[i], strlen(ways[i])))
			return true;
	return false;
}

static void check_end(void)
{
	int64_t until = clock_mono_ms() + END_MS;
	struct server_load load;

	for (server_look(server, &load); load.connections; server_look(server, &load)) {
		if (clock_mono_ms() > until)
			abort();
		sched_yield();
	}
	if (load.exchanges || load.held_bytes[HELD_REQUEST] || load.held_bytes[HELD_ANSWER])
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char text[64];

	if (fd < 0 || connect(fd, (struct sockaddr *)&place, place_len) < 0)
		abort();
	send_all(fd, data, size);
	receive_all(fd, text, sizeof(text));
	io_close(fd);
	if (*text && strncmp(text, "HTTP/1.", 7))
		abort();
	if (!strncmp(text, "HTTP/1.1 2", 10) && !is_let_in(data, size))
		abort();
	check_end();
	return 0;
}
