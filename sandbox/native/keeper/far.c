/*
 * The far end of a stream (stream.h): assay's place beside a keeper that is somewhere else. It
 * starts the keeper, hands it what comes, and sends what the pipes and the keeper say. It decides
 * nothing about a run, and when the stream ends, by whatever cause, so does all that it started.
 */
#include "sandbox/native/keeper/single.h"
#include "sandbox/native/keeper/stream.h"
#include "sandbox/native/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOB_MAX	 (4ull << 30) /* of a payload and of an input, each */
#define CLOSE_US 1000000      /* for the keeper to clean up by itself */
#define SEALS	 (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

enum far_state {
	FAR_STARTING, /* the keeper has not said hello */
	FAR_IDLE,
	FAR_RECEIVING, /* a job */
	FAR_RUNNING,
	FAR_ENDING, /* the keeper has said what happened; some of it is still to be sent */
};

struct far {
	struct stream_reader in;
	struct stream_writer out;
	struct link link;
	enum far_way way;
	enum far_state state;
	int keeper, started; /* socket, eventfd */
	pid_t pid;
	struct stream_run run;
	int job[2];		     /* payload, stdin */
	uint64_t got[2];	     /* of them */
	int guest[PROTOCOL_RUN_FDS]; /* the guest's ends, until the keeper has them */
	int streams[2];
	int left;
	struct stream_result result;
};

enum { ON_IN, ON_OUT, ON_KEEPER, ON_STARTED, ON_STDOUT, ON_STDERR, ON_LINK, ON_FDS = ON_LINK + 2 };

/* --- the keeper --- */

static int spawn(struct far *f, int socket)
{
	char name[] = "assay-keeper", word[] = KEEPER_SINGLE;
	char *argv[] = { name, f->way == FAR_SINGLE ? word : NULL, NULL }, *env[] = { NULL };
	const struct spawn_fd fds[] = { { socket, PROTOCOL_FD },
					{ f->started, PROTOCOL_STARTED_FD } };

	errno = spawn_apart("/proc/self/exe", argv, env, fds, 2, &f->pid);
	return errno == 0 ? 0 : -1;
}

/* Above the numbers that the keeper gets them under, so that neither closes another. */
static int move_up(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, PROTOCOL_STARTED_FD + 1);

	close(fd);
	return moved;
}

static int start_keeper(struct far *f)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	f->keeper = move_up(pair[0]);
	pair[1] = move_up(pair[1]);
	f->started = move_up(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (f->keeper < 0 || pair[1] < 0 || f->started < 0 || spawn(f, pair[1]) < 0)
		return -1;
	close(pair[1]);
	return 0;
}

static void end_keeper(struct far *f)
{
	int64_t until = now_us() + CLOSE_US;

	close_all(&f->keeper, 1);
	if (f->pid <= 0)
		return;
	while (waitpid(f->pid, NULL, WNOHANG) == 0) {
		if (now_us() > until)
			kill(f->pid, SIGKILL);
		poll(NULL, 0, 1);
	}
}

/* --- a job comes --- */

/* A pipe that the guest made itself, as it seems: gVisor's have no other mode than their first. */
static int make_guests_pipe(int ret[2])
{

	if (seteuid(GUEST_ID) < 0)
		return -1;
	int status = pipe2(ret, O_CLOEXEC);
	return seteuid(0) < 0 ? -1 : status;
}

/* The guest is another user and may open /dev/stdout, which is such a pipe. */
static int make_stream(struct far *f, int which)
{
	int ends[2];

	if ((f->way == FAR_SINGLE ? make_guests_pipe(ends) : pipe2(ends, O_CLOEXEC)) < 0)
		return -1;
	f->streams[which] = ends[0];
	f->guest[PROTOCOL_FD_STDOUT + which] = ends[1];
	if (f->way != FAR_SINGLE && fchmod(ends[1], 0622) < 0)
		return -1;
	return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}

static int make_link(struct far *f)
{
	int out[2] = { -1, -1 };

	if (!f->run.linked)
		return 0;
	int in[2];
	if (pipe2(in, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close_all(in, 2);
		return -1;
	}
	f->guest[PROTOCOL_FD_LINK_IN] = in[0];
	f->guest[PROTOCOL_FD_LINK_OUT] = out[1];
	link_open(&f->link, out[0], in[1]);
	return 0;
}

static void forget_job(struct far *f)
{
	close_all(f->job, 2);
	close_all(f->guest, PROTOCOL_RUN_FDS);
	close_all(f->streams, 2);
	close_all(&f->left, 1);
	link_close(&f->link);
}

static int begin(struct far *f, const struct stream_frame *frame)
{
	if (f->state != FAR_IDLE || !stream_is(frame, &f->run, sizeof(f->run)) ||
	    f->run.payload_len > JOB_MAX || f->run.stdin_len > JOB_MAX ||
	    (!f->run.has_stdin && f->run.stdin_len > 0) || f->run.request.kind != PROTOCOL_RUN)
		return -1;
	f->run.request.waiting = 0;
	f->got[0] = f->got[1] = 0;
	memset(&f->result, 0, sizeof(f->result));
	f->job[0] = memfd_create("assay-payload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	f->job[1] = f->run.has_stdin ?
			    memfd_create("assay-stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING) :
			    open("/dev/null", O_RDONLY | O_CLOEXEC);
	f->state = FAR_RECEIVING;
	return f->job[0] < 0 || f->job[1] < 0 || make_stream(f, 0) < 0 || make_stream(f, 1) < 0 ||
			       make_link(f) < 0 ?
		       -1 :
		       0;
}

static int hand_over(struct far *f)
{
	size_t count = f->run.linked ? PROTOCOL_RUN_FDS : PROTOCOL_PLAIN_FDS;

	if (f->got[0] < f->run.payload_len || f->got[1] < f->run.stdin_len)
		return 0;
	f->guest[PROTOCOL_FD_PAYLOAD] = dup(f->job[0]);
	f->guest[PROTOCOL_FD_INPUTS] = dup(f->job[0]); /* all that there are are in it */
	f->guest[PROTOCOL_FD_ENVIRONMENT] = dup(f->job[0]);
	f->guest[PROTOCOL_FD_STDIN] = f->job[1];
	f->job[1] = -1;
	uint64_t ran;
	(void)!read(f->started, &ran, sizeof(ran)); /* of the run before */
	if (f->guest[PROTOCOL_FD_PAYLOAD] < 0 || f->guest[PROTOCOL_FD_INPUTS] < 0 ||
	    f->guest[PROTOCOL_FD_ENVIRONMENT] < 0 || fcntl(f->job[0], F_ADD_SEALS, SEALS) < 0 ||
	    (f->run.has_stdin && (lseek(f->guest[PROTOCOL_FD_STDIN], 0, SEEK_SET) < 0 ||
				  fcntl(f->guest[PROTOCOL_FD_STDIN], F_ADD_SEALS, SEALS) < 0)) ||
	    message_send(f->keeper, &f->run.request, sizeof(f->run.request), f->guest, count) < 0)
		return -1;
	close_all(f->guest, PROTOCOL_RUN_FDS);
	f->state = FAR_RUNNING;
	return 0;
}

static int take_data(struct far *f, const struct stream_frame *frame)
{
	uint64_t want = frame->which == STREAM_PAYLOAD ? f->run.payload_len : f->run.stdin_len;

	if (frame->which == STREAM_LINK)
		return link_take(&f->link, frame);
	if (f->state != FAR_RECEIVING || frame->which > STREAM_STDIN ||
	    frame->len > want - f->got[frame->which])
		return -1;
	size_t done = 0;
	while (done < frame->len) {
		ssize_t n = write(f->job[frame->which], frame->bytes + done, frame->len - done);

		if (n < 0)
			return -1;
		done += (size_t)n;
	}
	f->got[frame->which] += frame->len;
	return hand_over(f);
}

/* --- other frames --- */

static bool is_in_root(const char *path)
{
	static const char *const roots[] = { "/usr/", "/bin/", "/lib/", "/sbin/", "/lib64/" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (!strncmp(path, roots[i], strlen(roots[i])))
			return true;
	return false;
}

static int find(struct far *f, const struct stream_frame *frame)
{
	static const char spaces[] = "/proc/self/ns/", boot[] = PROTOCOL_BOOT_ID;
	char path[PROTOCOL_PATH_MAX] = "";

	if (f->state != FAR_IDLE || frame->len >= sizeof(path) || !stream_has_room(&f->out))
		return -1;
	memcpy(path, frame->bytes, frame->len);
	char real[PATH_MAX] = "";
	if (!strncmp(path, spaces, strlen(spaces))) {
		if (readlink(path, real, sizeof(real) - 1) < 0)
			real[0] = '\0';
	} else if (!strcmp(path, boot)) {
		file_read(AT_FDCWD, boot, real, sizeof(real));
		real[strcspn(real, "\n")] = '\0';
	} else if (!realpath(path, real) || !is_in_root(real) || access(real, X_OK) < 0) {
		real[0] = '\0';
	}
	return stream_put(&f->out, STREAM_FOUND, 0, real, strlen(real));
}

static int put_result(struct far *f)
{
	f->state = FAR_IDLE;
	forget_job(f);
	return stream_put(&f->out, STREAM_RESULT, 0, &f->result, sizeof(f->result));
}

/* A job that is not whole yet never runs. */
static int end_job(struct far *f, const struct stream_frame *frame)
{
	struct protocol_request order = { .kind = PROTOCOL_KILL };

	if (!stream_is(frame, &order.reason, sizeof(order.reason)) ||
	    order.reason == PROTOCOL_NOT_KILLED || order.reason > PROTOCOL_KILL_CANCELLED)
		return -1;
	if (f->state == FAR_RUNNING)
		return message_send(f->keeper, &order, sizeof(order), NULL, 0);
	if (f->state != FAR_RECEIVING)
		return 0; /* it came after the end it wanted */
	f->result.left_len = STREAM_NO_LEFT;
	f->result.result = (struct protocol_result){ .kind = PROTOCOL_RESULT,
						     .reason = order.reason,
						     .peak_memory_bytes = -1,
						     .peak_pids = -1,
						     .written_bytes = -1 };
	return put_result(f);
}

static int take(struct far *f, const struct stream_frame *frame)
{
	switch (frame->kind) {
	case STREAM_FIND:
		return find(f, frame);
	case STREAM_RUN:
		return begin(f, frame) < 0 ? -1 : hand_over(f);
	case STREAM_KILL:
		return end_job(f, frame);
	case STREAM_DATA:
		return take_data(f, frame);
	case STREAM_END:
	case STREAM_BROKEN:
	case STREAM_CREDIT:
		return frame->which == STREAM_LINK ? link_take(&f->link, frame) : -1;
	case STREAM_HELLO:
	case STREAM_FOUND:
	case STREAM_RAN:
	case STREAM_RESULT:
	case STREAM_KINDS:
		break;
	}
	return -1;
}

static int read_stream(struct far *f)
{
	if (stream_fill(&f->in) < 0)
		return -1;
	struct stream_frame frame;
	int more;
	while ((more = stream_next(&f->in, &frame)) > 0)
		if (take(f, &frame) < 0)
			return -1;
	return more;
}

/* --- what the keeper says --- */

static int tell_hello(struct far *f)
{
	struct protocol_hello hello = { .kind = PROTOCOL_HELLO, .version = PROTOCOL_VERSION };
	ssize_t n = message_receive(f->keeper, &hello, sizeof(hello), NULL, 0);

	if (n != sizeof(hello)) {
		errno = 0;
		failure_set(&hello.failure, "the keeper died while starting", "");
	}
	f->state = FAR_IDLE;
	return stream_put(&f->out, STREAM_HELLO, 0, &hello, sizeof(hello));
}

static int read_keeper(struct far *f)
{
	struct protocol_result *r = &f->result.result;

	if (f->state == FAR_STARTING)
		return tell_hello(f);
	int disk;
	ssize_t n = message_receive(f->keeper, r, sizeof(*r), &disk, 1);
	if (f->state != FAR_RUNNING) {
		close_all(&disk, 1);
		return -1; /* dead between two runs: assay starts anew */
	}
	if (n != sizeof(*r)) {
		*r = (struct protocol_result){ .kind = PROTOCOL_RESULT };
		errno = 0;
		failure_set(&r->failure, "the keeper died during the run", "");
		close_all(&f->keeper, 1);
	}
	f->state = FAR_ENDING;
	f->result.left_len = STREAM_NO_LEFT;
	if (disk >= 0 && left_list(disk, &f->run.request, f->job[0], &f->left) == 0)
		f->result.left_len = 0;
	else if (disk >= 0)
		failure_set(&r->failure, "list what the program left", "");
	close_all(&disk, 1);
	return 0;
}

static bool may_send_rest(const struct far *f)
{
	return f->state == FAR_ENDING && f->streams[0] < 0 && f->streams[1] < 0 &&
	       f->link.source < 0 && stream_has_room(&f->out);
}

/* The order of things: all output, all of the link, the list, the result. */
static int send_rest(struct far *f)
{
	if (!may_send_rest(f))
		return 0;
	if (f->left >= 0) {
		if (stream_pass(&f->out, STREAM_LEFT, f->left, &f->result.left_len) < 0)
			close_all(&f->left, 1);
		return 0;
	}
	return put_result(f);
}

/* --- the loop --- */

static void fill_polls(const struct far *f, struct pollfd *ret)
{
	bool room = stream_has_room(&f->out), runs = f->state == FAR_RUNNING;

	ret[ON_IN] = (struct pollfd){ .fd = f->in.fd, .events = POLLIN };
	ret[ON_OUT] = (struct pollfd){ .fd = f->out.fd,
				       .events = stream_is_empty(&f->out) ? 0 : POLLOUT };
	ret[ON_KEEPER] = (struct pollfd){ .fd = f->keeper, .events = POLLIN };
	ret[ON_STARTED] = (struct pollfd){ .fd = runs ? f->started : -1, .events = POLLIN };
	for (int i = 0; i < 2; i++)
		ret[ON_STDOUT + i] =
			(struct pollfd){ .fd = room ? f->streams[i] : -1, .events = POLLIN };
	link_poll(&f->link, &f->out, &ret[ON_LINK]);
}

static int send_streams(struct far *f, const struct pollfd *fds)
{
	uint64_t *totals[2] = { &f->result.out_len, &f->result.err_len };
	uint64_t ran;

	if (fds[ON_STARTED].revents && read(f->started, &ran, sizeof(ran)) == sizeof(ran) &&
	    stream_put(&f->out, STREAM_RAN, 0, NULL, 0) < 0)
		return -1;
	for (unsigned i = 0; i < 2; i++)
		if (fds[ON_STDOUT + i].revents && stream_has_room(&f->out) &&
		    stream_pass(&f->out, STREAM_STDOUT + i, f->streams[i], totals[i]) < 0)
			close_all(&f->streams[i], 1);
	return link_handle(&f->link, &f->out, &fds[ON_LINK]);
}

static int handle(struct far *f, const struct pollfd *fds)
{
	if (send_streams(f, fds) < 0)
		return -1;
	if (fds[ON_IN].revents && read_stream(f) < 0)
		return -1;
	/* Last of all that may have been said at once: the list begins with what was sent. */
	if (fds[ON_KEEPER].revents && !fds[ON_STARTED].revents && f->keeper >= 0 &&
	    read_keeper(f) < 0)
		return -1;
	return send_rest(f) < 0 ? -1 : stream_flush(&f->out);
}

static void serve(struct far *f)
{
	struct pollfd fds[ON_FDS];

	do {
		fill_polls(f, fds);
		if (poll(fds, ON_FDS, may_send_rest(f) ? 0 : -1) < 0 && errno != EINTR)
			return;
	} while (!(fds[ON_OUT].revents & (POLLERR | POLLNVAL)) && handle(f, fds) == 0);
}

/* A copy that was made for this one use is gone once it runs. */
static void remove_self(void)
{
	char path[PATH_MAX] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) > 0)
		unlink(path);
}

int far_main(enum far_way way)
{
	static struct far f = {
		.in.fd = 0,
		.out.fd = 1,
		.link = { .source = -1, .sink = -1 },
		.keeper = -1,
		.started = -1,
		.job = { -1, -1 },
		.guest = { -1, -1, -1, -1, -1, -1, -1, -1 },
		.streams = { -1, -1 },
		.left = -1,
	};

	f.way = way;
	signal(SIGPIPE, SIG_IGN);
	if (way == FAR_UNLINK)
		remove_self();
	if (chdir("/") < 0)
		return 1;
	fcntl(0, F_SETFL, O_NONBLOCK);
	fcntl(1, F_SETFL, O_NONBLOCK);
	char line[STREAM_LINE];
	stream_greeting(line);
	memcpy(f.out.bytes, line, strlen(line));
	f.out.have = strlen(line);
	if (start_keeper(&f) < 0)
		return 1;
	serve(&f);
	forget_job(&f);
	end_keeper(&f);
	return 0;
}
