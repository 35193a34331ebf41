/*
 * A near end's COMMAND for a machine of Firecracker's: starts the program with a socket for its API
 * in a folder of our own, describes the machine, and joins its vsock to our standard streams. The
 * kernel and the initramfs are those of machine.c, the image is, too.
 *
 *	PUT /machine-config, /boot-source, /drives/root, /vsock, /actions   a machine boots
 *	PATCH /vm, PUT /snapshot/create                                     once it listens: kept
 *	PUT /snapshot/load                                                  instead of all that
 *	CONNECT 1024 on the vsock's socket, answered by OK                  the stream
 *
 * A snapshot is taken before the machine has said or heard a word: it holds nothing of any run.
 */
#include "sandbox/native/keeper/boot.h"

#include "sandbox/native/keeper/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_MS	   30000 /* for a socket, and for the machine to listen */
#define END_MS	   1500
#define REPLY_MAX  4096
#define API	   "api"
#define VSOCK	   "vsock"
#define GUEST_CID  3
#define KERNEL_ARG "quiet panic=-1 reboot=k random.trust_cpu=on"

struct firecracker {
	const char *program, *kernel, *image, *modules, *memory, *snapshot;
	char folder[96];
	pid_t pid;
	int stream;
	char reply[REPLY_MAX];
};

static int complain(const char *what, const char *more)
{
	fprintf(stderr, "%s%s%.300s\n", what, *more == '\0' ? "" : ": ", more);
	return -1;
}

/* --- the API --- */

static int reach(const struct firecracker *f, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", f->folder, name);
	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) == 0)
		return fd;
	close_all(&fd, 1);
	return -1;
}

/* Until the program has made its socket; -1 when it has ended instead. */
static int reach_soon(const struct firecracker *f, const char *name)
{
	for (int i = 0; i < WAIT_MS; i++) {
		int fd = reach(f, name);

		if (fd >= 0)
			return fd;
		if (waitpid(f->pid, NULL, WNOHANG) != 0)
			return complain("Firecracker has ended", "");
		poll(NULL, 0, 1);
	}
	return complain("Firecracker does not answer", "");
}

static int write_whole(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* The head and as much of the body as it announces, or there is room for; the status. */
static int read_answer(struct firecracker *f, int fd)
{
	size_t have = 0, wanted = sizeof(f->reply) - 1;
	int status = -1;
	ssize_t n;

	while (have < wanted && (n = read(fd, f->reply + have, wanted - have)) > 0) {
		have += (size_t)n;
		f->reply[have] = '\0';
		const char *body = strstr(f->reply, "\r\n\r\n");
		if (!body)
			continue;
		sscanf(f->reply, "HTTP/1.%*d %d", &status);
		const char *length = strcasestr(f->reply, "\r\nContent-Length:");
		if (!length || length > body)
			break;
		n = (ssize_t)strtoul(length + 17, NULL, 10) + (body + 4 - f->reply);
		wanted = n < (ssize_t)wanted ? (size_t)n : wanted;
	}
	f->reply[have] = '\0';
	return status;
}

/* One of 204 has no body; what any other says is told. */
static int call(struct firecracker *f, const char *method, const char *path, const char *body)
{
	int fd = reach_soon(f, API);

	if (fd < 0)
		return -1;
	char head[512];
	int n = snprintf(head, sizeof(head),
			 "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
			 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
			 method, path, strlen(body));
	f->reply[0] = '\0';
	int status = -1;
	if (write_whole(fd, head, (size_t)n) == 0 && write_whole(fd, body, strlen(body)) == 0)
		status = read_answer(f, fd);
	close(fd);
	if (status == 204)
		return 0;
	const char *said = strstr(f->reply, "\r\n\r\n");
	return complain(path, !said ? "Firecracker broke off" : said + 4);
}

/* --- the machine --- */

/* A path stands in JSON as it is: one that could end the text is refused. */
static bool is_plain(const char *path)
{
	for (; *path != '\0'; path++)
		if (*path == '"' || *path == '\\' || (unsigned char)*path < ' ')
			return false;
	return true;
}

static int boot(struct firecracker *f, int initramfs)
{
	char body[2048];

	snprintf(body, sizeof(body), "{\"vcpu_count\":1,\"mem_size_mib\":%s}", f->memory);
	if (call(f, "PUT", "/machine-config", body) < 0)
		return -1;
	snprintf(body, sizeof(body),
		 "{\"kernel_image_path\":\"%s\",\"initrd_path\":\"/proc/%d/fd/%d\","
		 "\"boot_args\":\"" KERNEL_ARG "\"}",
		 f->kernel, (int)getpid(), initramfs);
	if (call(f, "PUT", "/boot-source", body) < 0)
		return -1;
	snprintf(body, sizeof(body),
		 "{\"drive_id\":\"root\",\"path_on_host\":\"%s\",\"is_root_device\":false,"
		 "\"is_read_only\":true}",
		 f->image);
	if (call(f, "PUT", "/drives/root", body) < 0)
		return -1;
	snprintf(body, sizeof(body), "{\"guest_cid\":%d,\"uds_path\":\"%s\"}", GUEST_CID, VSOCK);
	if (call(f, "PUT", "/vsock", body) < 0)
		return -1;
	return call(f, "PUT", "/actions", "{\"action_type\":\"InstanceStart\"}");
}

/* One byte at a time: what follows the line is the stream's. */
static int read_line(int fd, char *ret, size_t size)
{
	size_t len = 0;

	while (len + 1 < size && read(fd, ret + len, 1) == 1)
		if (ret[len++] == '\n') {
			ret[len] = '\0';
			return 0;
		}
	return -1;
}

/* The program refuses until the keeper listens. To one who says nothing it goes on listening. */
static int connect_stream(struct firecracker *f)
{
	char hello[32];

	snprintf(hello, sizeof(hello), "CONNECT %d\n", BOOT_VSOCK_PORT);
	for (int i = 0; i < WAIT_MS / 10; i++) {
		char line[64];
		int fd = reach_soon(f, VSOCK);

		if (fd < 0)
			return -1;
		if (write_whole(fd, hello, strlen(hello)) == 0 &&
		    read_line(fd, line, sizeof(line)) == 0 && !strncmp(line, "OK ", 3)) {
			f->stream = fd;
			return 0;
		}
		close(fd);
		poll(NULL, 0, 10);
	}
	return complain("the machine does not listen", "");
}

static int load(struct firecracker *f)
{
	char body[1024];

	snprintf(body, sizeof(body),
		 "{\"snapshot_path\":\"%s.state\",\"mem_backend\":{\"backend_path\":\"%s.memory\","
		 "\"backend_type\":\"File\"},\"resume_vm\":true}",
		 f->snapshot, f->snapshot);
	return call(f, "PUT", "/snapshot/load", body);
}

/* Of a machine that listens and was not spoken to. */
static void make_snapshot(struct firecracker *f)
{
	char body[1024];

	snprintf(body, sizeof(body),
		 "{\"snapshot_type\":\"Full\",\"snapshot_path\":\"%s.making\","
		 "\"mem_file_path\":\"%s.memory\"}",
		 f->snapshot, f->snapshot);
	if (call(f, "PATCH", "/vm", "{\"state\":\"Paused\"}") < 0)
		return;
	char from[512];
	snprintf(from, sizeof(from), "%s.making", f->snapshot);
	char to[512];
	snprintf(to, sizeof(to), "%s.state", f->snapshot);
	if (call(f, "PUT", "/snapshot/create", body) == 0)
		(void)!rename(from, to);
	call(f, "PATCH", "/vm", "{\"state\":\"Resumed\"}");
}

static bool has_snapshot(const struct firecracker *f)
{
	char state[512];

	snprintf(state, sizeof(state), "%s.state", f->snapshot);
	return access(state, R_OK) == 0;
}

/* One that cannot be made costs only time. There is one maker at a time, and none once it is made:
 * machines have its memory mapped from then on. */
static void keep(struct firecracker *f)
{
	char path[512];

	snprintf(path, sizeof(path), "%s.lock", f->snapshot);
	int lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0 && !has_snapshot(f))
		make_snapshot(f);
	close_all(&lock, 1);
}

/* --- the program --- */

static int start(struct firecracker *f)
{
	char *env[] = { NULL };
	pid_t parent = getpid();

	f->pid = fork();
	if (f->pid != 0)
		return f->pid < 0 ? complain("fork", strerror(errno)) : 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || chdir(f->folder) < 0)
		_exit(1);
	dup2(open("/dev/null", O_RDWR | O_CLOEXEC), 0);
	dup2(2, 1); /* the machine's console and the program's log are no stream */
	execle(f->program, "firecracker", "--api-sock", API, (char *)NULL, env);
	complain(f->program, strerror(errno));
	_exit(1);
}

static void finish(struct firecracker *f)
{
	static const char *const names[] = { API, VSOCK };

	close_all(&f->stream, 1);
	if (f->pid > 0) {
		for (int i = 0; i < END_MS && waitpid(f->pid, NULL, WNOHANG) == 0; i++)
			poll(NULL, 0, 1);
		kill(f->pid, SIGKILL);
		waitpid(f->pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", f->folder, names[i]);
		unlink(path);
	}
	rmdir(f->folder);
}

/* Both ways; an end of either is the end. */
static void carry(const struct firecracker *f)
{
	struct pollfd fds[] = { { .fd = 0, .events = POLLIN },
				{ .fd = f->stream, .events = POLLIN } };

	while (poll(fds, 2, -1) > 0)
		for (size_t i = 0; i < 2; i++) {
			char bytes[STREAM_PIECE];
			ssize_t n = fds[i].revents ? read(fds[i].fd, bytes, sizeof(bytes)) : 1;

			if (fds[i].revents &&
			    (n <= 0 || write_whole(i == 0 ? f->stream : 1, bytes, (size_t)n) < 0))
				return;
		}
}

static int begin(const struct firecracker *f)
{
	return write_whole(f->stream, BOOT_BEGIN, 1);
}

static int run(struct firecracker *f)
{
	if (has_snapshot(f))
		return start(f) < 0 || load(f) < 0 || connect_stream(f) < 0 ? -1 : begin(f);
	int initramfs;
	if (initramfs_make(f->modules, true, &initramfs) < 0)
		return complain("initramfs", strerror(errno));
	int status = start(f) < 0 || boot(f, initramfs) < 0 ? -1 : connect_stream(f);
	close(initramfs);
	if (status < 0)
		return -1;
	close_all(&f->stream, 1); /* it listens: that was the question */
	keep(f);
	return connect_stream(f) < 0 ? -1 : begin(f);
}

int firecracker_main(char **arguments)
{
	static struct firecracker f = { .stream = -1 };
	const char *place = getenv("TMPDIR");
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL); /* who ends us closes our input, too */
	signal(SIGPIPE, SIG_IGN);
	f.program = arguments[0];
	f.kernel = arguments[1];
	f.image = arguments[2];
	f.modules = arguments[3];
	f.memory = arguments[4];
	f.snapshot = arguments[5];
	for (int i = 0; i < 6; i++)
		if (!is_plain(arguments[i]) || strlen(arguments[i]) > 400)
			return complain("a path that cannot be told to Firecracker", arguments[i]),
			       1;
	snprintf(f.folder, sizeof(f.folder), "%s/assay-firecracker-XXXXXX",
		 place && place[0] == '/' && strlen(place) < 60 ? place : "/tmp");
	if (!mkdtemp(f.folder))
		return complain(f.folder, strerror(errno)), 1;
	int status = 1;
	if (run(&f) == 0) {
		carry(&f);
		status = 0;
	}
	finish(&f);
	return status;
}
