/*
 * A near end's COMMAND for a container engine (Docker's API, which Podman serves, too) on its unix
 * socket: makes a container of an image, puts this program into it, and joins its standard streams
 * to ours. The container has no network, no capability, no mount of this host and ends with our
 * input; then, or when anything fails, it is removed with all that was made for it.
 *
 *	GET /version, POST /containers/create, PUT archive, POST attach (101), POST start; at the
 *end DELETE, and GET /containers/json for what others left
 *
 * The engine is trusted as root is; what runs in the container is not, and reaches us only as the
 * frames of the attached stream: [1|2, 0, 0, 0, length].
 */
#include "sandbox/native/keeper/stream.h"

#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define API_MINOR 41 /* 1.41: what is spoken, and what is the same in each later one */
#define REPLY_MAX 65536
#define ANSWER_S  60
#define END_MS	  3000	/* for the container to end by itself */
#define LIMIT_MAX 16384 /* open files, and processes of the container's user */
#define TAR_BLOCK 512
#define ID_LEN	  64
#define OWNER	  "assay.owner" /* the label of whose a container is */

/* Everything that is not here is the engine's default of nothing. Without its own filter and masks
 * of /proc, since the keeper inside could build none of its walls with them; its filter is
 * stricter. */
#define CREATE                                                                                     \
	"{\"Image\":\"%s\",\"Entrypoint\":[\"/assay/assay-keeper\"],\"Cmd\":[\"--stream\"],"       \
	"\"User\":\"65534:65534\",\"WorkingDir\":\"/\",\"Env\":[],\"Hostname\":\"assay\","         \
	"\"OpenStdin\":true,\"StdinOnce\":true,\"AttachStdin\":true,\"AttachStdout\":true,"        \
	"\"AttachStderr\":true,\"Tty\":false,\"NetworkDisabled\":true,\"Volumes\":{\"/"            \
	"assay\":{}},"                                                                             \
	"\"Healthcheck\":{\"Test\":[\"NONE\"]},\"Labels\":{\"assay\":\"sandbox\",\"" OWNER         \
	"\":\"%s\"},"                                                                              \
	"\"HostConfig\":{\"NetworkMode\":\"none\",\"ReadonlyRootfs\":true,\"CapDrop\":[\"ALL\"],"  \
	"\"Privileged\":false,\"AutoRemove\":true,\"IpcMode\":\"private\","                        \
	"\"SecurityOpt\":[\"no-new-privileges\",\"seccomp=unconfined\",\"apparmor=unconfined\"%s]" \
	","                                                                                        \
	"\"MaskedPaths\":[],\"ReadonlyPaths\":[],\"Tmpfs\":{\"/tmp\":\"size=64m\"},"               \
	"\"Memory\":%lld,\"MemorySwap\":%lld,\"PidsLimit\":%d,"                                    \
	"\"Ulimits\":[{\"Name\":\"nofile\",\"Soft\":%lld,\"Hard\":%lld},"                          \
	"{\"Name\":\"nproc\",\"Soft\":%lld,\"Hard\":%lld}],"                                       \
	"\"LogConfig\":{\"Type\":\"none\"},\"RestartPolicy\":{\"Name\":\"no\"}}}"

struct engine {
	const char *path;    /* of its socket */
	int minor;	     /* of the API that is spoken, 1.MINOR; 0: none was agreed on */
	const char *owner;   /* of its containers: this user on this host; "": not known */
	char id[ID_LEN + 1]; /* of the container; "": none */
	int attached;
	size_t have; /* of reply, which may hold the stream's beginning behind an answer */
	char reply[REPLY_MAX + 1];
	char *body; /* in reply */
};

static int complain(const char *what, const char *more)
{
	fprintf(stderr, "%s%s%.300s\n", what, *more == '\0' ? "" : ": ", more);
	return -1;
}

/* --- requests --- */

static int reach(const struct engine *e)
{
	const struct timeval patience = { .tv_sec = ANSWER_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || strlen(e->path) >= sizeof(address.sun_path))
		return complain("the container engine's socket cannot be used", e->path);
	strncpy(address.sun_path, e->path, sizeof(address.sun_path) - 1);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) == 0)
		return fd;
	complain("the container engine does not answer", strerror(errno));
	close(fd);
	return -1;
}

static int write_whole(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Until the answer's head is there; then *e->body is what came behind it. */
static int read_head(struct engine *e, int fd)
{
	e->have = 0;
	e->body = NULL;
	while (!e->body && e->have < REPLY_MAX) {
		ssize_t n = read(fd, e->reply + e->have, REPLY_MAX - e->have);

		if (n <= 0)
			return complain("the container engine broke off", "");
		e->have += (size_t)n;
		e->reply[e->have] = '\0';
		e->body = strstr(e->reply, "\r\n\r\n");
	}
	int status = 0;
	if (!e->body || sscanf(e->reply, "HTTP/1.%*d %d", &status) != 1)
		return complain("the container engine's answer is none of HTTP", "");
	e->body += 4;
	return status;
}

/* The rest, as much as there is room for: of answers that say something short. */
static void read_rest(struct engine *e, int fd)
{
	ssize_t n = 1;

	while (e->have < REPLY_MAX && n > 0) {
		n = read(fd, e->reply + e->have, REPLY_MAX - e->have);
		e->have += n > 0 ? (size_t)n : 0;
	}
	e->reply[e->have] = '\0';
}

static int send_head(const struct engine *e, int fd, const char *method, const char *path,
		     const char *type, size_t len, const char *upgrade)
{
	char version[16] = "", head[1024];

	if (e->minor > 0)
		snprintf(version, sizeof(version), "/v1.%d", e->minor);
	int n = snprintf(head, sizeof(head),
			 "%s %s%s HTTP/1.1\r\nHost: engine\r\nContent-Type: %s\r\n"
			 "Content-Length: %zu\r\n%s\r\n",
			 method, version, path, type, len, upgrade);

	return n < 0 || (size_t)n >= sizeof(head) ? -1 : write_whole(fd, head, (size_t)n);
}

/* One request whose answer is short; its status, or -1. */
static int request(struct engine *e, const char *method, const char *path, const char *body)
{
	int fd = reach(e);

	if (fd < 0)
		return -1;
	int status = -1;
	if (send_head(e, fd, method, path, "application/json", strlen(body),
		      "Connection: close\r\n") < 0 ||
	    write_whole(fd, body, strlen(body)) < 0)
		complain("the container engine broke off", "");
	else
		status = read_head(e, fd);
	if (status > 0)
		read_rest(e, fd);
	close(fd);
	return status;
}

/* --- the container --- */

/* As many as we have ourselves: Podman's own defaults are more than it may give everywhere. */
static long long at_most(rlim_t own)
{
	return own > LIMIT_MAX ? LIMIT_MAX : (long long)own;
}

/* Engines refuse what is older than they know: Docker 29 all before 1.44. Whether it is Podman. */
static int agree(struct engine *e, bool *ret_podman)
{
	static const char oldest[] = "\"MinAPIVersion\":\"1.";
	int status = request(e, "GET", "/version", "");

	if (status != 200)
		return status < 0 ? -1 : complain("the container engine has no version", e->body);
	const char *at = strstr(e->body, oldest);
	long minor = at ? strtol(at + strlen(oldest), NULL, 10) : 0;
	e->minor = minor > API_MINOR && minor < 1000 ? (int)minor : API_MINOR;
	*ret_podman = strstr(e->body, "Podman");
	return 0;
}

static int create(struct engine *e, const char *image, long long memory_bytes)
{
	struct rlimit files = { LIMIT_MAX, LIMIT_MAX }, tasks = files;
	bool podman = false; /* takes no list of masks here, and has a word for none */

	if (agree(e, &podman) < 0)
		return -1;
	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_NPROC, &tasks);
	char body[4096];
	int n = snprintf(body, sizeof(body), CREATE, image, e->owner,
			 podman ? ",\"unmask=ALL\"" : "", memory_bytes, memory_bytes, LIMIT_MAX,
			 at_most(files.rlim_max), at_most(files.rlim_max), at_most(tasks.rlim_max),
			 at_most(tasks.rlim_max));
	if (n < 0 || (size_t)n >= sizeof(body))
		return complain("the image's name is too long", "");
	int status = request(e, "POST", "/containers/create", body);
	if (status < 0)
		return -1;
	if (status == 404)
		return complain("there is no such image here; pull it first", image);
	char *id = strstr(e->body, "\"Id\":\"");
	if (status != 201 || !id || strspn(id + 6, "0123456789abcdef") != ID_LEN)
		return complain("the container engine makes no container", e->body);
	memcpy(e->id, id + 6, ID_LEN);
	return 0;
}

static void fill_header(char header[TAR_BLOCK], size_t size)
{
	memset(header, 0, TAR_BLOCK);
	strcpy(header, "assay-keeper");
	snprintf(header + 100, 8, "%07o", 0755);
	snprintf(header + 108, 8, "%07o", 0);
	snprintf(header + 116, 8, "%07o", 0);
	snprintf(header + 124, 12, "%011zo", size);
	snprintf(header + 136, 12, "%011o", 0);
	header[156] = '0';
	memcpy(header + 257, "ustar\00000", 8);
	memset(header + 148, ' ', 8);
	unsigned sum = 0;
	for (size_t i = 0; i < TAR_BLOCK; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
}

static int send_tar(int fd, int self, size_t size)
{
	char block[STREAM_PIECE];
	size_t odd = (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK;

	fill_header(block, size);
	if (write_whole(fd, block, TAR_BLOCK) < 0)
		return -1;
	ssize_t n;
	while ((n = read(self, block, sizeof(block))) > 0)
		if (write_whole(fd, block, (size_t)n) < 0)
			return -1;
	char zeros[2 * TAR_BLOCK] = "";
	return n < 0 || write_whole(fd, zeros, odd) < 0 ? -1 :
							  write_whole(fd, zeros, sizeof(zeros));
}

/* This program, into the volume that was made for it: nothing else there can be written. */
static int put_keeper(struct engine *e)
{
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), fd = reach(e);
	char path[160];

	snprintf(path, sizeof(path), "/containers/%s/archive?path=/assay", e->id);
	int status = -1;
	struct stat st;
	if (self >= 0 && fd >= 0 && fstat(self, &st) == 0) {
		size_t size = (size_t)st.st_size;
		size = TAR_BLOCK + (size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK + 2 * TAR_BLOCK;
		if (send_head(e, fd, "PUT", path, "application/x-tar", size,
			      "Connection: close\r\n") == 0 &&
		    send_tar(fd, self, (size_t)st.st_size) == 0)
			status = read_head(e, fd);
	}
	close_all((int[]){ self, fd }, 2);
	return status == 200 ? 0 :
			       complain("the keeper cannot be put into the container",
					status > 0 ? e->body : "");
}

static int attach(struct engine *e)
{
	char path[160];

	snprintf(path, sizeof(path), "/containers/%s/attach?stream=1&stdin=1&stdout=1&stderr=1",
		 e->id);
	e->attached = reach(e);
	if (e->attached < 0 || send_head(e, e->attached, "POST", path, "text/plain", 0,
					 "Connection: Upgrade\r\nUpgrade: tcp\r\n") < 0)
		return -1;
	int status = read_head(e, e->attached);
	return status == 101 || status == 200 ?
		       0 :
		       complain("the container's streams cannot be had", status > 0 ? e->body : "");
}

static int start(const struct engine *e)
{
	static struct engine other; /* the first one's buffer is the stream's beginning */

	other.path = e->path;
	other.minor = e->minor;
	char path[160];
	snprintf(path, sizeof(path), "/containers/%s/start", e->id);
	int status = request(&other, "POST", path, "");
	return status == 204 ?
		       0 :
		       complain("the container does not start", status > 0 ? other.body : "");
}

static void remove_container(struct engine *e)
{
	if (e->id[0] == '\0')
		return;
	char path[160];
	snprintf(path, sizeof(path), "/containers/%s?force=1&v=1", e->id);
	request(e, "DELETE", path, "");
}

/* --- what others left --- */

/* One that was made and never started, of somebody who was killed in between: what runs ends with
 * its input, and is removed by the engine then. Nobody takes so long to start one. Several, and
 * other hosts, may use one engine: each removes its own, by the engine's clock, and a few at a
 * time, since somebody waits for that. */
#define LEFT_S	 900
#define LEFT_MAX 3
#define LEFT                                                                     \
	"/containers/json?all=1&filters=%%7B%%22label%%22:%%5B%%22assay=sandbox" \
	"%%22,%%22" OWNER "=%s%%22%%5D,%%22status%%22:%%5B%%22created%%22%%5D%%7D"

/* When it answered, by its own clock; -1: it does not say. */
static time_t engine_time(const struct engine *e)
{
	static const char date[] = "\r\nDate: ";
	const char *at = strcasestr(e->reply, date);
	struct tm tm = { .tm_sec = 0 };

	return at && at < e->body && strptime(at + strlen(date), "%a, %d %b %Y %H:%M:%S GMT", &tm) ?
		       timegm(&tm) :
		       -1;
}

/* At the colon before when it was made, in seconds and whole: where an answer comes in pieces, the
 * first digits of a time are one of long ago. */
static bool is_old(const char *colon, time_t now)
{
	char *end;
	long long made = strtoll(colon + 1, &end, 10);

	return (*end == ',' || *end == '}') && made < now - LEFT_S;
}

/* The next one of that list which is old enough: where its id begins; NULL: there is none. */
static const char *next_left(const char *list, time_t now)
{
	static const char id[] = "\"Id\":\"", made[] = "\"Created\":";
	const char *at = strstr(list, id);

	while (at) {
		const char *created = strstr(at, made), *next = strstr(at + 1, id);

		at += strlen(id);
		if (created && (!next || created < next) &&
		    strspn(at, "0123456789abcdef") == ID_LEN &&
		    is_old(created + strlen(made) - 1, now))
			return at;
		at = next;
	}
	return NULL;
}

/* Without force: one that runs after all stays. */
static void remove_left(const struct engine *e)
{
	static struct engine list, other;
	char path[256];

	list.path = other.path = e->path;
	list.minor = other.minor = e->minor;
	int n = snprintf(path, sizeof(path), LEFT, e->owner);
	if (e->minor == 0 || e->owner[0] == '\0' || n < 0 || (size_t)n >= sizeof(path) ||
	    request(&list, "GET", path, "") != 200)
		return;
	const time_t now = engine_time(&list);
	const char *at = list.body;
	for (n = 0; n < LEFT_MAX && (at = next_left(at, now)); n++) {
		snprintf(path, sizeof(path), "/containers/%.*s?v=1", ID_LEN, at);
		request(&other, "DELETE", path, "");
		at += ID_LEN;
	}
}

/* --- the streams --- */

struct frame {
	unsigned char head[8];
	size_t have; /* of head */
	size_t left; /* of the frame */
};

/* What the container wrote, to our output or to our complaints. */
static int split(struct frame *f, const char *bytes, size_t len)
{
	while (len > 0) {
		if (f->have < sizeof(f->head)) {
			f->head[f->have++] = (unsigned char)*bytes++;
			len--;
			f->left = (size_t)f->head[4] << 24 | (size_t)f->head[5] << 16 |
				  (size_t)f->head[6] << 8 | f->head[7];
			if (f->have < sizeof(f->head) || f->left > 0)
				continue;
		}
		size_t n = f->left < len ? f->left : len;
		if (n > 0 && write_whole(f->head[0] == 2 ? 2 : 1, bytes, n) < 0)
			return -1;
		bytes += n;
		len -= n;
		f->left -= n;
		if (f->left == 0)
			f->have = 0;
	}
	return 0;
}

/* Both ways until the container has ended, and not for long after our input has. */
static void carry(struct engine *e)
{
	struct frame frame = { .have = 0 };
	struct pollfd fds[] = { { .fd = 0, .events = POLLIN },
				{ .fd = e->attached, .events = POLLIN } };
	size_t first = e->have - (size_t)(e->body - e->reply);

	if (split(&frame, e->body, first) < 0)
		return;
	while (poll(fds, 2, fds[0].fd < 0 ? END_MS : -1) > 0) {
		char bytes[STREAM_PIECE];
		ssize_t n;

		if (fds[1].revents) {
			n = read(e->attached, bytes, sizeof(bytes));
			if (n <= 0 || split(&frame, bytes, (size_t)n) < 0)
				return;
		}
		if (fds[0].fd < 0 || !fds[0].revents)
			continue;
		n = read(0, bytes, sizeof(bytes));
		if (n > 0 && write_whole(e->attached, bytes, (size_t)n) == 0)
			continue;
		shutdown(e->attached, SHUT_WR);
		fds[0].fd = -1;
	}
}

int engine_main(const char *socket_path, const char *image, const char *memory_bytes,
		const char *owner)
{
	static struct engine e;
	sigset_t all;

	/* Whoever ends us closes our input, too; what was made is removed first. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	e.path = socket_path;
	e.owner = owner;
	e.attached = -1;
	if (create(&e, image, strtoll(memory_bytes, NULL, 10)) == 0 && put_keeper(&e) == 0 &&
	    attach(&e) == 0 && start(&e) == 0)
		carry(&e);
	close_all(&e.attached, 1);
	remove_container(&e);
	remove_left(&e);
	return 0;
}
