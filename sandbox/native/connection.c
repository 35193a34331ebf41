/*
 * The keeper's process and the socket to it: started before any key is read, killed with all
 * below it. Messages are whole or an error; nothing of a guest is read here.
 */
#include "sandbox/native/connection.h"

#include "base/clock.h"
#include "base/io.h"
#include "base/mem.h"
#include "sandbox/native/message.h"
#include "sandbox/native/spawn.h"
#include "sandbox/native/standby.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELLO_MS      30000 /* a start this long is none */
#define CLOSE_MS      1000  /* to clean up by itself */
#define FAR_CLOSE_MS  8000  /* where that takes another program */
#define FIRST_TELL_MS 1500  /* of what is made once */
#define TELL_MS	      10000

/* Starts with its end of the socket, the eventfd, /dev/null and nothing else: no
 * environment, no descriptor, no signal disposition of ours, no terminal. */
static int spawn_with(const char *path, char **argv, char **env, int socket, int started,
		      pid_t *ret_pid)
{
	const struct spawn_fd fds[] = { { socket, PROTOCOL_FD }, { started, PROTOCOL_STARTED_FD } };

	return spawn_apart(path, argv, env, fds, 2, ret_pid);
}

static int spawn_near(const struct native *s, char *fresh, int socket, pid_t *ret_pid)
{
	char *none[] = { NULL };
	size_t count = 0;

	while (s->far->command[count])
		count++;
	char **argv = mem_array(NULL, count + 3, sizeof(*argv));
	char name[] = "assay-keeper";
	argv[0] = name;
	char to_far[] = "--far";
	argv[1] = to_far;
	memcpy(argv + 2, s->far->command, (count + 1) * sizeof(*argv));
	if (fresh)
		argv[2 + s->far->fresh_at] = fresh;
	int status = spawn_with(s->keeper_path, argv, s->far->env ? s->far->env : none, socket,
				s->started, ret_pid);
	free(argv);
	return status;
}

/* The keeper, or the near end of the stream to one; an errno. */
static int spawn(const struct native *s, char *fresh, int socket, pid_t *ret_pid)
{
	char name[] = "assay-keeper", *none[] = { NULL };

	return s->far ? spawn_near(s, fresh, socket, ret_pid) :
			spawn_with(s->keeper_path, (char *[]){ name, NULL }, none, socket,
				   s->started, ret_pid);
}

int connection_failure(const struct protocol_failure *failure, struct error *err)
{
	const char *separator = failure->remedy[0] == '\0' ? "" : "; ";

	if (failure->errnum == 0)
		return error_set(err, ERR_SANDBOX, "%s%s%s", failure->step, separator,
				 failure->remedy);
	return error_set_known(err, ERR_SANDBOX, failure->errnum, "%s: %s%s%s", failure->step,
			       strerror(failure->errnum), separator, failure->remedy);
}

static bool is_ready(int fd, int wait_ms)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&ready, 1, wait_ms);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* How much there is by now is the best that can be said of how long it takes. */
static void tell_making(const struct native *s, int64_t since_ms)
{
	cleanup_free char *pattern = mem_printf("%s*", s->far->making_at);
	glob_t found;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0) {
		cleanup_free char *text =
			mem_printf("%s; %lld s so far", s->far->making,
				   (long long)(clock_mono_ms() - since_ms) / 1000);
		s->tell(s->tell_self, text);
	}
	globfree(&found);
}

/* What is made once takes longer than anybody would expect. */
static bool await_hello(const struct native *s, int wait_ms)
{
	const int64_t since = clock_mono_ms(), until = since + wait_ms;
	int64_t left = wait_ms;

	if (!s->far || !s->far->making_at || !s->tell)
		return is_ready(s->socket, wait_ms);
	for (int step = FIRST_TELL_MS; left > 0; step = TELL_MS) {
		if (is_ready(s->socket, left < step ? (int)left : step))
			return true;
		tell_making(s, since);
		left = until - clock_mono_ms();
	}
	return false;
}

static int expect_hello(struct native *s, struct error *err)
{
	int wait_ms = s->far && s->far->start_ms > 0 ? s->far->start_ms : HELLO_MS;

	if (!await_hello(s, wait_ms))
		return error_set(err, ERR_SANDBOX, "%s: does not answer", s->keeper_path);
	int fd;
	ssize_t n = connection_receive(s, &s->hello, sizeof(s->hello), &fd);
	mem_cleanup_close(&fd);
	if (n != sizeof(s->hello) || s->hello.kind != PROTOCOL_HELLO ||
	    s->hello.version != PROTOCOL_VERSION)
		return error_set(err, ERR_SANDBOX, "%s: %s", s->keeper_path,
				 n <= 0 ? "died while starting" : "is of another version");
	if (s->hello.failure.step[0] != '\0') {
		connection_failure(&s->hello.failure, err);
		return error_wrap(err, "the sandbox cannot be set up");
	}
	return 0;
}

/* dup2 onto itself would keep CLOEXEC, and onto another close that one: what
 * the keeper gets has a number above those it gets them under. */
static void move_up(int *fd)
{
	if (*fd < 0 || *fd > PROTOCOL_STARTED_FD)
		return;
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, PROTOCOL_STARTED_FD + 1);
	io_close(*fd);
	*fd = moved;
}

/* What waits dies with the keeper. */
static void close_ends(struct native *s)
{
	waiting_release(s);
	if (s->socket >= 0)
		io_close(TAKE_FD(s->socket));
	if (s->started >= 0)
		io_close(TAKE_FD(s->started));
}

int connection_start(struct native *s, struct error *err)
{
	cleanup_free char *fresh = NULL;

	if (s->keeper != 0)
		return 0;
	if (s->far && s->far->fresh && s->far->fresh(s->far, &fresh, err) < 0)
		return -1;
	s->hello = (struct protocol_hello){ .kind = 0 };
	int pair[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "socketpair");
	s->started = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	move_up(&pair[1]);
	move_up(&s->started);
	int status = s->started < 0 || pair[1] < 0 ? errno : spawn(s, fresh, pair[1], &s->keeper);
	io_close(pair[1]);
	s->socket = pair[0];
	s->filter_hash[0] = '\0';
	if (status != 0) {
		s->keeper = 0;
		close_ends(s);
		return error_set_errno(err, ERR_SANDBOX, status, "start %s", s->keeper_path);
	}
	return 0;
}

int connection_open(struct native *s, struct error *err)
{
	if (connection_start(s, err) < 0)
		return -1;
	if (s->hello.kind == 0 && expect_hello(s, err) < 0) {
		connection_close(s);
		return -1;
	}
	return 0;
}

static void reap(struct native *s)
{
	while (waitpid(s->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	s->keeper = 0;
}

void connection_close(struct native *s)
{
	close_ends(s);
	if (s->keeper <= 0)
		return;
	/* It ends by itself when the socket does, unless somebody stopped it. */
	int pidfd = (int)syscall(SYS_pidfd_open, s->keeper, 0);
	if (pidfd < 0 || !is_ready(pidfd, !s->far ? CLOSE_MS : FAR_CLOSE_MS))
		kill(s->keeper, SIGKILL);
	if (pidfd >= 0)
		io_close(pidfd);
	reap(s);
}

/* One that served its only run (keeper/single.c) is followed by another, which waits. */
static void follow_single(struct native *s)
{
	struct error ignored = ERROR_INIT; /* whoever comes next starts one and hears of it */

	if (s->hello.single && s->keeper == 0)
		connection_start(s, &ignored);
}

void connection_leave(struct native *s)
{
	if (s->second && !s->once)
		connection_leave(s->second);
	if (!s->waits)
		connection_close(s);
	else if (!s->once)
		follow_single(s);
}

void connection_forget_guest(const struct native *s)
{
	uint64_t count;

	(void)!io_read(s->started, &count, sizeof(count));
}

/* Ours and not reaped yet, its number cannot be anybody else's. */
void connection_kill(struct native *s, bool *ret_guest_ran)
{
	kill(s->keeper, SIGKILL);
	reap(s);
	uint64_t count;
	*ret_guest_ran = io_read(s->started, &count, sizeof(count)) == sizeof(count);
	close_ends(s);
}

static ssize_t send_whole(int socket, const struct msghdr *msg)
{
	ssize_t n;

	do
		n = sendmsg(socket, msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

/* The kernel counts the descriptors that all programs of a user have on their way,
 * a guest's among them, and compares them with the limit on open files of the one
 * that sends: for this one message ours is as high as we may have it. */
static ssize_t send_with_room(int socket, const struct msghdr *msg)
{
	struct rlimit before;

	if (getrlimit(RLIMIT_NOFILE, &before) < 0)
		return -1;
	struct rlimit most = (struct rlimit){ before.rlim_max, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &most);
	ssize_t n = send_whole(socket, msg);
	int saved = errno;
	setrlimit(RLIMIT_NOFILE, &before);
	errno = saved;
	return n;
}

int connection_send(const struct native *s, const void *message, size_t len, const int *fds,
		    size_t nfds)
{
	struct protocol_message m;

	protocol_message_fill(&m, message, len, fds, nfds);
	ssize_t n = send_whole(s->socket, &m.msg);
	if (n < 0 && errno == ETOOMANYREFS)
		n = send_with_room(s->socket, &m.msg);
	return n < 0 ? -1 : 0;
}

ssize_t connection_receive(const struct native *s, void *ret_message, size_t size, int *ret_fd)
{
	return protocol_receive(s->socket, ret_message, size, ret_fd, 1);
}
