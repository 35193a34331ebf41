/*
 * The server: its daemon, the connections it has, and the thread that watches them. A connection
 * that does not bring its request in time, or does not take the answer, is closed, one whose client
 * has gone has its work ended.
 * What is asked on them is exchange.c's affair.
 */
#include "agent/doors/http/server.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX	  256
#define CONNECTION_MEMORY ((size_t)32 << 10) /* for a head: a flood of headers ends there */
#define IDLE_SECONDS	  15
#define REQUEST_MS	  30000	 /* for all of a request to come */
#define SEND_MS		  120000 /* for all of an answer to go */
#define SEND_CUT_MS	  3000	 /* the same, when everything is to end */
#define LOOK_MS		  200

/* --- connections --- */

static bool is_foreign(const struct server *s, int fd)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (!s->options.guard->open)
		return false;
	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0 ||
	       (who.uid != geteuid() && who.uid != 0);
}

static void opened(struct server *s, struct MHD_Connection *mhd, void **context)
{
	const union MHD_ConnectionInfo *info =
		microhttpd.info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *c = mem_alloc(sizeof(*c));

	*c = (struct connection){ .fd = info ? info->connect_fd : -1, .since_ms = clock_mono_ms() };
	c->foreign = is_foreign(s, c->fd);
	*context = c;
	pthread_mutex_lock(&s->lock);
	c->next = s->connections;
	s->connections = c;
	s->load.connections++;
	pthread_mutex_unlock(&s->lock);
}

/* Before its descriptor is closed. */
static void closed(struct server *s, void **context)
{
	struct connection *c = *context;

	pthread_mutex_lock(&s->lock);
	struct connection **at;
	for (at = &s->connections; *at && *at != c; at = &(*at)->next)
		;
	if (*at) {
		*at = c->next;
		s->load.connections--;
	}
	pthread_mutex_unlock(&s->lock);
	free(c);
	*context = NULL;
}

static void on_connection(void *self, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		opened(self, mhd, context);
	else if (*context)
		closed(self, context);
}

/* --- watching --- */

static bool has_left(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/* Nothing is left to be read of it, and nobody will send more; at a second look, lest what was read
 * be on its way. */
static bool is_cut(struct connection *c)
{
	int unread = 0;
	bool now = c->since_ms && !c->exchange && has_left(c->fd) &&
		   ioctl(c->fd, FIONREAD, &unread) == 0 && !unread;

	c->left_looks = now ? c->left_looks + 1 : 0;
	return c->left_looks > 1;
}

static void look_at(struct server *s, struct connection *c)
{
	int64_t now = clock_mono_ms();

	if (c->exchange && c->exchange->worked_ms && !c->sending_ms)
		c->sending_ms = now; /* a client that takes little has begun to, too */
	if (is_cut(c) ||
	    (c->since_ms && now - c->since_ms > (s->cut ? 0 : REQUEST_MS + c->larger_ms)) ||
	    (c->sending_ms &&
	     now - c->sending_ms > (s->cut ? SEND_CUT_MS : SEND_MS + c->larger_ms)))
		shutdown(c->fd, SHUT_RDWR);
	if (c->exchange && (s->cut || has_left(c->fd)))
		exchange_leave(c->exchange, s->cut);
}

static void *watch(void *self)
{
	struct server *s = self;
	struct pollfd wake = { .fd = s->wake_fd, .events = POLLIN };
	bool ending = false;

	while (!ending) {
		uint64_t woken;

		if (poll(&wake, 1, LOOK_MS) > 0)
			(void)!io_read(s->wake_fd, &woken, sizeof(woken));
		pthread_mutex_lock(&s->lock);
		for (struct connection *c = s->connections; c; c = c->next)
			look_at(s, c);
		ending = s->ending;
		for (struct exchange *x = s->staying; x; x = x->next_staying)
			if (s->cut || (s->draining && exchange_has_left(x)))
				exchange_cancel(x);
		pthread_mutex_unlock(&s->lock);
		if (s->options.guests)
			s->options.guests->look(s->options.guests->self);
	}
	return NULL;
}

/* --- beginning --- */

static int digit(char c)
{
	return c >= '0' && c <= '9'		  ? c - '0' :
	       (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 :
						    -1;
}

size_t server_unescape(void *self, struct MHD_Connection *mhd, char *text)
{
	char *to = text;

	(void)self;
	(void)mhd;
	for (const char *at = text; *at; at++, to++) {
		int high = *at == '%' ? digit(at[1]) : -1, low = high < 0 ? -1 : digit(at[2]);

		*to = *at;
		if (low >= 0 && (high | low)) {
			*to = (char)(high << 4 | low);
			at += 2;
		}
	}
	*to = '\0';
	return (size_t)(to - text);
}

static int start(struct server *s, struct error *err)
{
	const struct server_options *o = &s->options;
	unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)o->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)o->cert_key },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };

	if (o->cert && microhttpd.supports(MHD_FEATURE_TLS) != MHD_YES)
		return error_set(err, ERR_CONFIG, "libmicrohttpd was built without TLS here");
	s->daemon = microhttpd.start_daemon(
		o->cert ? flags | MHD_USE_TLS : flags, 0, NULL, NULL, exchange_on_request, s,
		MHD_OPTION_LISTEN_SOCKET, o->listen_fd, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		s, MHD_OPTION_NOTIFY_COMPLETED, exchange_on_completed, s,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT,
		1, MHD_OPTION_UNESCAPE_CALLBACK, server_unescape, NULL, MHD_OPTION_ARRAY,
		o->cert ? tls : none, MHD_OPTION_END);
	if (!s->daemon)
		return error_set(err, ERR_CONFIG, "the HTTP server could not be started%s",
				 o->cert ? "; are certificate and key PEM, and of one another?" :
					   "");
	return 0;
}

int server_open(struct server **ret, const struct server_options *options, struct error *err)
{
	if (microhttpd_load(err) < 0) {
		io_close(options->listen_fd);
		return -1;
	}
	struct server *s = mem_alloc(sizeof(*s));
	s->options = *options;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0 || start(s, err) < 0) {
		if (s->wake_fd < 0)
			error_set_errno(err, ERR_FAILED, errno, "eventfd");
		io_close(options->listen_fd);
		server_close(s);
		return -1;
	}
	int status = pthread_create(&s->watch, NULL, watch, s);
	s->watches = !status;
	if (status) {
		server_close(s);
		return error_set_errno(err, ERR_FAILED, status, "start a thread");
	}
	*ret = s;
	return 0;
}

const struct server_options *server_options_of(const struct server *s)
{
	return &s->options;
}

void server_look(struct server *s, struct server_load *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = s->load;
	ret->draining = s->draining;
	pthread_mutex_unlock(&s->lock);
}

/* --- end --- */

static bool is_idle(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	bool idle = !s->load.exchanges;
	pthread_mutex_unlock(&s->lock);
	return idle;
}

static void wake(struct server *s)
{
	uint64_t one = 1;

	(void)!io_write(s->wake_fd, &one, sizeof(one));
}

static void stop_taking(struct server *s)
{
	MHD_socket fd = microhttpd.quiesce_daemon(s->daemon);

	if (fd >= 0)
		io_close(fd);
	pthread_mutex_lock(&s->lock);
	s->draining = true;
	pthread_mutex_unlock(&s->lock);
}

bool server_drain(struct server *s, int cancel_fd, void (*busy)(void *self), void *self)
{
	struct pollfd signalled = { .fd = cancel_fd, .events = POLLIN };

	stop_taking(s);
	if (busy && !is_idle(s))
		busy(self);
	while (!is_idle(s))
		if (poll(&signalled, 1, LOOK_MS) > 0) {
			pthread_mutex_lock(&s->lock);
			s->cut = true;
			pthread_mutex_unlock(&s->lock);
			signalled.fd = -1;
			wake(s);
		}
	return !s->cut;
}

bool server_run(struct server *s, int cancel_fd, void (*again)(void *self), void *self)
{
	struct pollfd signalled = { .fd = cancel_fd, .events = POLLIN };

	while (poll(&signalled, 1, -1) < 0 && errno == EINTR)
		;
	again(self); /* before anybody can see it: what comes then is the second one */
	return server_drain(s, cancel_fd, NULL, NULL);
}

static void wait_until_idle(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->load.exchanges)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

void server_close(struct server *s)
{
	if (!s)
		return;
	wait_until_idle(s);
	if (s->watches) {
		pthread_mutex_lock(&s->lock);
		s->ending = true;
		pthread_mutex_unlock(&s->lock);
		wake(s);
		pthread_join(s->watch, NULL);
	}
	if (s->daemon)
		microhttpd.stop_daemon(s->daemon);
	if (s->wake_fd >= 0)
		io_close(s->wake_fd);
	free(s->shares);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	free(s);
}
