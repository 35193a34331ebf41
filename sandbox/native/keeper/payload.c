/*
 * The payload: code, inputs, arguments and environment as one sealed memfd.
 * It comes from assay, not from the guest; it is still read with bounds.
 */
#include "sandbox/native/keeper/payload.h"

#include "sandbox/native/keeper/util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What languages want beside it comes with the payload. */
static const char *const fixed_env[] = {
	"PATH=/usr/local/bin:/usr/bin:/bin",
	"HOME=/work",
	"TMPDIR=/tmp",
	"LANG=C.UTF-8",
	"TZ=UTC",
	"NO_COLOR=1",
};
#define FIXED_ENV (sizeof(fixed_env) / sizeof(fixed_env[0]))
_Static_assert(FIXED_ENV <= PROTOCOL_ENV_FIXED, "room for the fixed environment");

struct unpack {
	const char *at, *end;
	size_t argc, envc;
	const int *fds; /* those that came with it */
	bool input_mounted;
	bool only_reads; /* how the program is started */
	struct payload_warm warm;
	const struct payload *forked; /* what the guest was forked for; NULL: it is no fork */
};

/* Opens the folders of a relative path one by one below dir and creates the
 * file. Nothing but us has ever been here, and still no link is followed. */
static int create_below(int dir, const char *path)
{
	int at = dup(dir);
	const char *slash;

	while (at >= 0 && (slash = strchr(path, '/'))) {
		char name[256];

		if ((size_t)(slash - path) >= sizeof(name)) {
			close(at);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path, (size_t)(slash - path));
		name[slash - path] = '\0';
		int next =
			mkdirat(at, name, 0755) < 0 && errno != EEXIST ?
				-1 :
				openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		path = slash + 1;
	}
	if (at < 0)
		return -1;
	int fd = openat(at, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	close(at);
	return fd;
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0)
			return -1;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

static int write_below(int dir, const char *path, const char *bytes, size_t len)
{
	int fd = create_below(dir, path);
	int status = fd < 0 ? -1 : write_all(fd, bytes, len);

	close_all(&fd, 1);
	return status;
}

static int write_file(const char *folder, const char *path, const char *bytes, size_t len)
{
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status = dir < 0 ? -1 : write_below(dir, path, bytes, len);

	close_all(&dir, 1);
	return status;
}

/* The next record after one, or the first. */
static const char *after(const char *map, const struct payload_record *r)
{
	return map + sizeof(*r) +
	       (((size_t)r->text_len + 1 + r->bytes_len + PAYLOAD_ALIGN - 1) &
		~(PAYLOAD_ALIGN - 1ul));
}

/* The text of the first of that kind, and of that text unless NULL; NULL: none. It has been
 * unpacked: every record is whole. */
static const char *find(const struct payload *payload, enum payload_kind kind, const char *text,
			struct payload_record *ret)
{
	for (const char *at = payload->map; memcpy(ret, at, sizeof(*ret)), ret->kind != PAYLOAD_END;
	     at = after(at, ret))
		if (ret->kind == kind && (!text || !strcmp(at + sizeof(*ret), text)))
			return at + sizeof(*ret);
	return NULL;
}

/* A program that is still to come, whoever opens it waits: there is one, in an init. */
static struct {
	int fd; /* with a lease; 0: none */
	char name[256];
} held;

static int hold_program(const char *name)
{
	int dir = open("/work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir < 0 || strlen(name) >= sizeof(held.name))
		return -1;
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	close_all(&dir, 1);
	if (fd < 0 || fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		return -1;
	held.fd = fd;
	strcpy(held.name, name);
	return 0;
}

/* An init has the launcher's memory, and so what the one before left there. */
void payload_begin(void)
{
	held.fd = 0;
}

bool payload_holds(void)
{
	return held.fd > 0;
}

int payload_release(void)
{
	int status = fcntl(held.fd, F_SETLEASE, F_UNLCK);

	close_all(&held.fd, 1);
	held.fd = 0;
	return status;
}

static int add_input(struct unpack *u, const char *path, const char *bytes, size_t len)
{
	if (!u->input_mounted && mount("in", "/in", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") < 0)
		return -1;
	u->input_mounted = true;
	return write_file("/in", path, bytes, len);
}

/* What is shared, as the sharer has laid it out. */
static int add_mount(int tree, const char *to)
{
	return (int)syscall(SYS_move_mount, tree, "", AT_FDCWD, to, MOVE_MOUNT_F_EMPTY_PATH);
}

/* The files that come as bytes go beside it. */
static int add_tree(struct unpack *u)
{
	if (u->input_mounted || add_mount(u->fds[PROTOCOL_FD_INPUTS], "/in") < 0)
		return -1;
	u->input_mounted = true;
	return 0;
}

/* A link in /work that is ours, as those to the inputs. */
static int add_link(const char *name, const char *target, size_t len)
{
	if (len == 0 || target[len - 1] != '\0' || strchr(name, '/')) {
		errno = EBADMSG;
		return -1;
	}
	int dir = open("/work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status = dir < 0 ? -1 : symlinkat(target, dir, name);
	close_all(&dir, 1);
	return status;
}

static int add_string(const char **list, size_t *count, size_t max, const char *text)
{
	if (*count == max) {
		errno = E2BIG;
		return -1;
	}
	list[(*count)++] = text;
	return 0;
}

/* A variable given for the run stands for the fixed one of its name. */
static int add_env(struct unpack *u, struct program *p, const char *text)
{
	size_t len = strcspn(text, "=") + 1;

	for (size_t i = 0; i < FIXED_ENV; i++) {
		if (strncmp(p->env[i], text, len))
			continue;
		p->env[i] = text;
		return 0;
	}
	return add_string(p->env, &u->envc, PROTOCOL_ARGS_MAX + FIXED_ENV, text);
}

/* Where the program will be. */
static int make_fifo(const char *name)
{
	int dir = open("/work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status = dir < 0 ? -1 : mkfifoat(dir, name, 0644);

	close_all(&dir, 1);
	return status;
}

/* A fork has run what its template ran ahead, which is the end of its program: where that is the
 * same in this job, it is left away. */
static size_t work_bytes(const struct unpack *u, const char *path, size_t len)
{
	struct payload_record r;
	const char *name = !u->forked ? NULL : find(u->forked, PAYLOAD_WAIT, path, &r);
	const char *ahead = !name ? NULL : find(u->forked, PAYLOAD_AHEAD, u->warm.ahead, &r);
	const char *bytes = !u->warm.ahead || !ahead ? NULL : strchr(ahead, ' ');
	size_t ran = !bytes ? 0 : strtoul(bytes, NULL, 10);

	return ran < len ? len - ran : len;
}

static int take_record(struct unpack *u, struct program *p, const struct payload_record *r,
		       const char *text)
{
	const char *bytes = text + r->text_len + 1;

	if (u->only_reads &&
	    (r->kind == PAYLOAD_WAIT || r->kind == PAYLOAD_WORK || r->kind == PAYLOAD_INPUT))
		return 0;
	switch ((enum payload_kind)r->kind) {
	case PAYLOAD_EXEC:
		p->path = text;
		return 0;
	case PAYLOAD_ARG:
		return add_string(p->argv, &u->argc, PROTOCOL_ARGS_MAX, text);
	case PAYLOAD_ENV:
		return add_env(u, p, text);
	case PAYLOAD_INPUT:
		return add_input(u, text, bytes, r->bytes_len);
	case PAYLOAD_WORK:
		if (held.fd > 0 && !strcmp(text, held.name))
			return write_all(held.fd, bytes, r->bytes_len);
		return write_file("/work", text, bytes, work_bytes(u, text, r->bytes_len));
	case PAYLOAD_WAIT:
		return r->bytes_len > 0 ? hold_program(text) : make_fifo(text);
	case PAYLOAD_WARM:
		u->warm.modules = text;
		return 0;
	case PAYLOAD_AHEAD:
		u->warm.ahead = text;
		return 0;
	case PAYLOAD_TREE:
		return add_tree(u);
	case PAYLOAD_ENVIRONMENT:
		return add_mount(u->fds[PROTOCOL_FD_ENVIRONMENT], "/env");
	case PAYLOAD_LINK:
		return add_link(text, bytes, r->bytes_len);
	case PAYLOAD_SHARED:
		return 0; /* it is in the tree; link_inputs wants its name */
	case PAYLOAD_END:
		break;
	}
	errno = EINVAL;
	return -1;
}

/* One record; 0 at the end, 1 for more, -1 for a broken payload. */
static int next_record(struct unpack *u, struct program *p, const char **ret_step)
{
	struct payload_record r;
	size_t room = (size_t)(u->end - u->at);

	if (room < sizeof(r))
		return -1;
	memcpy(&r, u->at, sizeof(r));
	if (r.kind == PAYLOAD_END)
		return 0;
	room -= sizeof(r);
	size_t need =
		((size_t)r.text_len + 1 + r.bytes_len + PAYLOAD_ALIGN - 1) & ~(PAYLOAD_ALIGN - 1ul);
	if (r.bytes_len > room || need > room || u->at[sizeof(r) + r.text_len] != '\0') {
		errno = EBADMSG;
		return -1;
	}
	*ret_step = r.kind == PAYLOAD_INPUT	  ? "write the input files" :
		    r.kind == PAYLOAD_TREE	  ? "mount the input files" :
		    r.kind == PAYLOAD_ENVIRONMENT ? "mount the environment" :
		    r.kind == PAYLOAD_WORK ? "write the program (is the disk limit too small?)" :
					     "payload";
	if (take_record(u, p, &r, u->at + sizeof(r)) < 0)
		return -1;
	u->at += sizeof(r) + need;
	return 1;
}

/* The inputs by their bare names, too: /work/a is /in/a, and /work/folder /in/folder,
 * where the program has nothing of that name. */
static int link_inputs(const char *map)
{
	struct payload_record r;

	for (; memcpy(&r, map, sizeof(r)), r.kind != PAYLOAD_END; map = after(map, &r)) {
		const char *text = map + sizeof(r);
		int len = (int)strcspn(text, "/");
		if ((r.kind != PAYLOAD_INPUT && r.kind != PAYLOAD_SHARED) || len > 255)
			continue;
		char from[300];
		snprintf(from, sizeof(from), "/in/%.*s", len, text);
		char to[300];
		snprintf(to, sizeof(to), "/work/%.*s", len, text);
		if (symlink(from, to) < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

const char *payload_waits_for(const struct payload *payload)
{
	struct payload_record r;

	return find(payload, PAYLOAD_WAIT, NULL, &r);
}

int payload_find_work(const struct payload *payload, const char *path, const char **ret_bytes,
		      size_t *ret_len)
{
	struct payload_record r;
	const char *text = find(payload, PAYLOAD_WORK, path, &r);

	if (!text)
		return -1;
	*ret_bytes = text + r.text_len + 1;
	*ret_len = r.bytes_len;
	return 0;
}

static bool same_strings(const char *const *a, const char *const *b)
{
	while (*a && *b && !strcmp(*a, *b))
		a++, b++;
	return !*a && !*b;
}

bool payload_same_program(const struct program *a, const struct program *b)
{
	return !strcmp(a->path, b->path) && same_strings(a->argv, b->argv) &&
	       same_strings(a->env, b->env);
}

void payload_unmap(struct payload *payload)
{
	if (payload->map)
		munmap(payload->map, payload->len);
	payload->map = NULL;
}

static int read_all(struct unpack *u, int fd, struct payload *ret_payload,
		    struct program *ret_program, const char **ret_step)
{
	*ret_step = "payload";
	*ret_payload = (struct payload){ .map = NULL };
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -1;
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	*ret_payload = (struct payload){ .map = map, .len = (size_t)st.st_size };
	u->at = map;
	u->end = u->at + st.st_size;
	for (size_t i = 0; i < FIXED_ENV; i++)
		ret_program->env[u->envc++] = fixed_env[i];
	int more = 1;
	while (more > 0)
		more = next_record(u, ret_program, ret_step);
	return more;
}

int payload_read(int fd, struct payload *ret_payload, struct program *ret_program,
		 struct payload_warm *ret_warm)
{
	struct unpack u = { .only_reads = true };
	const char *step;
	int status = read_all(&u, fd, ret_payload, ret_program, &step);

	*ret_warm = u.warm;
	return status == 0 && ret_program->path ? 0 : -1;
}

int payload_lay_out(const int *fds, const struct payload *forked, struct payload *ret_payload,
		    struct program *ret_program, bool *ret_inputs, const char **ret_step)
{
	struct unpack u = { .fds = fds, .forked = forked };
	int more = read_all(&u, fds[PROTOCOL_FD_PAYLOAD], ret_payload, ret_program, ret_step);

	if (more == 0 && u.input_mounted && link_inputs(ret_payload->map) < 0)
		more = -1;
	*ret_inputs = u.input_mounted;
	return more;
}

int payload_unpack(const int *fds, const struct payload *forked, struct payload *ret_payload,
		   struct program *ret_program, const char **ret_step)
{
	const unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV;
	bool inputs;

	if (payload_lay_out(fds, forked, ret_payload, ret_program, &inputs, ret_step) < 0)
		return -1;
	return inputs ? mount(NULL, "/in", NULL, flags, NULL) : 0;
}

/* --- of a job that goes on in a copy --- */

int payload_read_resume(int fd, struct payload *ret_payload, const char **ret_bytes,
			size_t *ret_len)
{
	struct unpack u = { .only_reads = true };
	struct program program = { .path = NULL };
	const char *step;

	if (read_all(&u, fd, ret_payload, &program, &step) < 0)
		return -1;
	struct payload_record r;
	const char *text = find(ret_payload, PAYLOAD_WORK, NULL, &r);
	if (!text) {
		errno = EBADMSG;
		return -1;
	}
	*ret_bytes = text + r.text_len + 1;
	*ret_len = r.bytes_len;
	return 0;
}

int payload_lay_inputs(const struct payload *payload, int in)
{
	struct payload_record r;
	const char *at = payload->map;

	for (; memcpy(&r, at, sizeof(r)), r.kind != PAYLOAD_END; at = after(at, &r)) {
		const char *text = at + sizeof(r);

		if (r.kind == PAYLOAD_INPUT &&
		    write_below(in, text, text + r.text_len + 1, r.bytes_len) < 0)
			return -1;
	}
	return link_inputs(payload->map);
}

void payload_take_inputs(const struct payload *payload, int in)
{
	struct payload_record r;
	const char *at = payload->map;

	for (; memcpy(&r, at, sizeof(r)), r.kind != PAYLOAD_END; at = after(at, &r))
		if (r.kind == PAYLOAD_INPUT)
			unlinkat(in, at + sizeof(r), 0);
}
