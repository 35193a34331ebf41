/*
 * Programs of ours that serve: started in walls like those of any job, with a keeper of their own,
 * and asked again and again over a socket that is their descriptors 3 and 4. What one answers is
 * text of a guest: only a whole answer to the very question that was asked is passed on, and one
 * that died, is late, or says anything else is ended. Then, and whenever there is none, the caller
 * starts the job itself: nothing here is needed, and nothing here is recorded.
 */
#include "sandbox/native/server.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/describe.h"
#include "sandbox/native/open.h"
#include "sandbox/native/pump.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define SERVERS_MAX 2
#define ANSWER_MS   5000 /* later than that, and the job is started itself, with all its time */
#define LIFE_MS	    60000
#define LIFE_CPU_MS 30000
#define ASKED_MAX   200
#define ENDED_MAX   8 /* badly: whoever reads such texts is served no more */
#define NONCE	    16
#define HEAD	    (NONCE + sizeof(uint64_t))

struct server {
	struct sandbox_job job; /* what tells it from others is owned: code, argv */
	struct native *native;	/* NULL: it does not run */
	struct pump pump;
	int link;
	size_t asked;	    /* since it was started, or without it */
	size_t ended_badly; /* of all that were started */
};

struct servers {
	struct server all[SERVERS_MAX];
	size_t next; /* to make room */
};

/* --- which --- */

static char *join_argv(const struct sandbox_job *job)
{
	struct buf all = BUF_INIT(1 << 16);

	for (const char *const *a = job->argv; a && *a; a++)
		buf_addf(&all, "%zu:%s", strlen(*a), *a);
	return buf_take(&all, NULL);
}

static bool is_same(const struct sandbox_job *a, const struct sandbox_job *b)
{
	cleanup_free char *first = join_argv(a), *second = join_argv(b);

	return a->language == b->language && a->flags == b->flags && a->code_len == b->code_len &&
	       !memcmp(a->code, b->code, a->code_len) && !strcmp(first, second);
}

/* What it is started with; flags are of a table. */
static struct sandbox_job copy_job(const struct sandbox_job *job)
{
	struct sandbox_job copy = { .language = job->language,
				    .code_len = job->code_len,
				    .flags = job->flags,
				    .limits = job->limits };
	size_t n = 0;

	while (job->argv && job->argv[n])
		n++;
	const char **argv = mem_alloc((n + 1) * sizeof(*argv));
	for (size_t i = 0; i < n; i++)
		argv[i] = mem_strdup(job->argv[i]);
	copy.argv = argv;
	copy.code = mem_strndup(job->code, job->code_len);
	copy.limits.wall_ms = LIFE_MS;
	copy.limits.cpu_ms = LIFE_CPU_MS;
	return copy;
}

static void free_const(const void *p)
{
	void *owned;

	memcpy(&owned, &p, sizeof(owned));
	free(owned);
}

static void free_job(struct sandbox_job *job)
{
	for (const char *const *a = job->argv; a && *a; a++)
		free_const(*a);
	free_const(job->argv);
	free_const(job->code);
	*job = (struct sandbox_job){ .code = NULL };
}

/* --- its life --- */

static void stop(struct server *v)
{
	if (!v->native)
		return;
	io_close(v->link);
	native_close(v->native);
	pump_release(&v->pump);
	v->native = NULL;
	v->asked = 0;
}

static void end_badly(struct server *v)
{
	stop(v);
	v->ended_badly++;
}

static int start(struct server *v, const struct native *s, const char *interpreter,
		 struct error *err)
{
	const struct sandbox_options options = { .program = s->keeper_path,
						 .once = true,
						 .python = s->own.python_from,
						 .node_modules = s->own.node_from };
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "socketpair");
	if (native_open(&v->native, &options, NULL, err) < 0) {
		io_close(ends[0]);
		io_close(ends[1]);
		return -1;
	}
	v->link = ends[0];
	v->asked = 0;
	pump_init(&v->pump, v->native, &v->job, NULL);
	fcntl(ends[1], F_SETFL, 0); /* the guest waits */
	int status = pump_start(&v->pump, interpreter, (const int[]){ ends[1], ends[1] }, err);
	io_close(ends[1]);
	if (status < 0)
		stop(v);
	return status;
}

/* The keeper says that it has ended; what it printed is nobody's. */
static bool has_ended(struct server *v, int wait_ms, struct pollfd *link)
{
	struct pollfd fds[PUMP_FDS + 1];

	pump_poll(&v->pump, fds);
	fds[PUMP_FDS] = *link;
	if (poll(fds, PUMP_FDS + 1, wait_ms) < 0 && errno != EINTR)
		return true;
	link->revents = fds[PUMP_FDS].revents;
	struct error ignored = ERROR_INIT;
	return pump_handle(&v->pump, fds, &ignored) < 0 || v->pump.ended || v->pump.killed;
}

static bool is_ready(struct server *v)
{
	struct pollfd link = { .fd = v->link, .events = POLLIN };

	/* Nobody has asked it: what it says now is no answer. */
	return !has_ended(v, 0, &link) && link.revents == 0;
}

static struct server *find(struct native *s, const struct sandbox_job *job)
{
	struct servers *all = s->servers;

	if (!all)
		all = s->servers = mem_alloc(sizeof(*all));
	for (size_t i = 0; i < SERVERS_MAX; i++)
		if (all->all[i].job.code && is_same(&all->all[i].job, job))
			return &all->all[i];
	struct server *v = &all->all[all->next++ % SERVERS_MAX];
	stop(v);
	free_job(&v->job);
	*v = (struct server){ .job = copy_job(job), .link = -1 };
	return v;
}

/* The one that serves such jobs, from the second question on, or when one is expected of a sandbox
 * that is there for more than one job; or NULL. */
static struct server *have(struct native *s, const struct sandbox_job *job, bool asks)
{
	if (s->warm == 0 || job->extra_count > 0 || job->input_count > 0 || job->stdin_len > 0 ||
	    job->entry || job->code_len == 0)
		return NULL;
	struct server *v = find(s, job);
	if (v->native && (v->asked >= ASKED_MAX || !is_ready(v)))
		stop(v);
	if (v->native)
		return v;
	if (v->asked == 0 && v->ended_badly == 0 && (asks || s->once)) {
		v->asked = asks;
		return NULL;
	}
	struct sandbox_environment environment;
	struct error ignored = ERROR_INIT;
	if (v->ended_badly >= ENDED_MAX ||
	    native_describe(s, job->language, &environment, &ignored) < 0 ||
	    !environment.interpreter)
		return NULL;
	if (start(v, s, environment.interpreter, &ignored) == 0)
		return v;
	v->ended_badly++;
	return NULL;
}

/* --- a question --- */

struct talk {
	struct buf out, in;
	size_t sent;
	char head[HEAD];
	uint64_t len; /* of the answer; of no meaning before its head is there */
};

static bool take_head(struct talk *t, size_t most)
{
	if (t->in.len < HEAD)
		return true;
	if (memcmp(t->in.data, t->head, NONCE))
		return false;
	memcpy(&t->len, t->in.data + NONCE, sizeof(t->len));
	return t->len <= most && t->in.len <= HEAD + t->len;
}

static bool is_whole(const struct talk *t)
{
	return t->in.len >= HEAD && t->in.len == HEAD + t->len;
}

static bool send_some(struct talk *t, int link)
{
	ssize_t n = send(link, t->out.data + t->sent, t->out.len - t->sent, MSG_NOSIGNAL);

	t->sent += n > 0 ? (size_t)n : 0;
	return n > 0 || errno == EAGAIN || errno == EINTR;
}

/* Nothing is to come before all was asked. */
static bool take_some(struct talk *t, int link, size_t most)
{
	char bytes[65536];
	ssize_t n = recv(link, bytes, sizeof(bytes), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || t->sent < t->out.len || t->in.len + (size_t)n > HEAD + most)
		return false;
	buf_add(&t->in, bytes, (size_t)n);
	return take_head(t, most);
}

static bool is_cancelled(int fd)
{
	struct pollfd cancel = { .fd = fd, .events = POLLIN };

	return fd >= 0 && poll(&cancel, 1, 0) > 0;
}

static bool exchange(struct server *v, struct talk *t, int cancel_fd)
{
	const int64_t until = clock_mono_ms() + ANSWER_MS;
	const size_t most = (size_t)v->job.limits.stdout_bytes;

	while (!is_whole(t)) {
		struct pollfd link = { .fd = v->link, .events = POLLIN };
		int64_t left = until - clock_mono_ms();

		if (t->sent < t->out.len)
			link.events |= POLLOUT;
		if (left <= 0 || is_cancelled(cancel_fd) ||
		    has_ended(v, left > 100 ? 100 : (int)left, &link))
			return false;
		if ((link.revents & POLLOUT) && !send_some(t, v->link))
			return false;
		if ((link.revents & ~POLLOUT) && !take_some(t, v->link, most))
			return false;
	}
	return true;
}

static bool talk(struct server *v, const void *question, size_t len, int cancel_fd,
		 struct buf *ret_answer)
{
	struct talk t = { .out = BUF_INIT(HEAD + len),
			  .in = BUF_INIT(HEAD + (size_t)v->job.limits.stdout_bytes) };
	const uint64_t count = len;
	bool good = getrandom(t.head, NONCE, 0) == NONCE;

	memcpy(t.head + NONCE, &count, sizeof(count));
	buf_add(&t.out, t.head, HEAD);
	buf_add(&t.out, question, len);
	good = good && exchange(v, &t, cancel_fd) && t.len > 0;
	if (good)
		buf_add(ret_answer, t.in.data + HEAD, (size_t)t.len);
	buf_release(&t.out);
	buf_release(&t.in);
	return good;
}

bool server_ask(struct native *s, const struct sandbox_job *job, const void *question, size_t len,
		int cancel_fd, struct buf *ret_answer)
{
	struct server *v = have(s, job, true);

	if (!v)
		return false;
	v->asked++;
	if (talk(v, question, len, cancel_fd, ret_answer))
		return true;
	end_badly(v);
	return false;
}

bool server_expect(struct native *s, const struct sandbox_job *job)
{
	return have(s, job, false) != NULL;
}

void servers_finish(const struct native *s)
{
	for (size_t i = 0; s->servers && i < SERVERS_MAX; i++)
		if (s->servers->all[i].native)
			native_finish(s->servers->all[i].native);
}

void servers_release(struct native *s)
{
	for (size_t i = 0; s->servers && i < SERVERS_MAX; i++) {
		stop(&s->servers->all[i]);
		free_job(&s->servers->all[i].job);
	}
	free(s->servers);
	s->servers = NULL;
}
