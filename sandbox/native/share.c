/*
 * The inputs of a job that are seen where they are: lists them for the sharer (keeper/share.c),
 * which is started for this one job, and takes the mount that it makes of them. What cannot be
 * had so is said per input, for whoever copies it instead.
 */
#include "sandbox/native/share.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/input.h"
#include "sandbox/native/connection.h"
#include "sandbox/native/message.h"
#include "sandbox/native/payload.h"
#include "sandbox/native/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 30000

/* --- the list --- */

static size_t count_sources(const struct sandbox_job *job)
{
	size_t n = 0;

	for (size_t i = 0; i < job->input_count; i++)
		n += job->inputs[i].source != NULL;
	return n;
}

static int write_padded(int fd, const void *bytes, size_t len, struct error *err)
{
	static const char zeros[PAYLOAD_ALIGN];
	size_t odd = len % PAYLOAD_ALIGN;

	if (io_write_all(fd, bytes, len, err) < 0)
		return -1;
	return odd == 0 ? 0 : io_write_all(fd, zeros, PAYLOAD_ALIGN - odd, err);
}

/* What the sharer is told of one; cfg and link are an environment's, or NULL. */
struct wish {
	const char *name, *path, *cfg, *link;
	int fd;
	bool folder;
	enum share_place place;
};

static uint32_t length(const char *text)
{
	return !text ? 0 : (uint32_t)strlen(text);
}

static void add_text(struct buf *record, const char *text)
{
	buf_add(record, !text ? "" : text, length(text) + 1);
}

static int add_record(int fd, const struct wish *w, struct error *err)
{
	cleanup_buf struct buf record = BUF_INIT(1 << 18);
	struct share_record head = { .name_len = length(w->name),
				     .path_len = length(w->path),
				     .cfg_len = length(w->cfg),
				     .link_len = length(w->link),
				     .folder = w->folder,
				     .place = w->place };
	struct stat st;

	if (fstat(w->fd, &st) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", w->path);
	head.dev = st.st_dev;
	head.ino = st.st_ino;
	buf_add(&record, &head, sizeof(head));
	add_text(&record, w->name);
	add_text(&record, w->path);
	add_text(&record, w->cfg);
	add_text(&record, w->link);
	return write_padded(fd, record.data, record.len, err);
}

static int add_source(int fd, const struct sandbox_file *file, struct error *err)
{
	if (payload_check_path(file, err) < 0)
		return -1;
	return add_record(fd,
			  &(struct wish){ .name = file->path,
					  .path = file->source->path,
					  .fd = file->source->fd,
					  .folder = file->source->folder,
					  .place = SHARE_INPUT },
			  err);
}

static int add_own(int fd, const struct own_folder *f, struct error *err)
{
	return add_record(fd,
			  &(struct wish){ .name = f->seen + strlen(OWN_PLACE),
					  .path = f->path,
					  .cfg = f->cfg,
					  .link = f->link,
					  .fd = f->fd,
					  .folder = true,
					  .place = SHARE_ENVIRONMENT },
			  err);
}

/* "65534 2100000001 1": whom the keeper's guests are here. */
static int read_guest(const struct native *s, const char *map, uint32_t *ret)
{
	cleanup_free char *path = mem_printf("/proc/%d/%s", (int)s->keeper, map);
	cleanup_buf struct buf text = BUF_INIT(4096);
	struct error ignored = ERROR_INIT;
	unsigned inside, outside;

	if (io_read_file(path, &text, &ignored) < 0 ||
	    sscanf(text.data, "%u %u", &inside, &outside) != 2)
		return -1;
	*ret = outside;
	return 0;
}

static int make_list(const struct native *s, const struct sandbox_job *job, size_t count,
		     struct error *err)
{
	cleanup_close int fd = memfd_create("assay-share", MFD_CLOEXEC);
	struct share_list list = { .count = (uint32_t)count };

	if (fd < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "memfd_create");
	if (read_guest(s, "uid_map", &list.guest_uid) < 0 ||
	    read_guest(s, "gid_map", &list.guest_gid) < 0)
		return error_set(err, ERR_SANDBOX, "who the keeper's guests are is not known");
	if (write_padded(fd, &list, sizeof(list), err) < 0)
		return -1;
	for (size_t i = 0; i < job->input_count; i++)
		if (job->inputs[i].source && add_source(fd, &job->inputs[i], err) < 0)
			return -1;
	for (size_t i = 0; i < s->own.count; i++)
		if (add_own(fd, &s->own.folders[i], err) < 0)
			return -1;
	return TAKE_FD(fd);
}

/* --- the sharer --- */

/* A number above those it gets them under: dup2 would close one that is still needed. */
static int above(int fd)
{
	int moved = fcntl(fd, F_DUPFD_CLOEXEC, SHARE_USERNS_FD + 1);

	io_close(fd);
	return moved;
}

/* It has its three descriptors, /dev/null and nothing of ours. */
static int spawn(const char *path, const int fds[3], pid_t *ret_pid)
{
	char name[] = "assay-keeper", word[] = SHARE_WORD;
	char *argv[] = { name, word, NULL }, *env[] = { NULL };
	const struct spawn_fd given[] = { { fds[0], SHARE_SOCKET_FD },
					  { fds[1], SHARE_SOCKET_FD + 1 },
					  { fds[2], SHARE_SOCKET_FD + 2 } };

	return spawn_apart(path, argv, env, given, 3, ret_pid);
}

/* With a mount for each place, or with none: the others are let go of. */
static bool has_all(int trees[SHARE_PLACES])
{
	size_t count = 0;

	for (size_t i = 0; i < SHARE_PLACES; i++)
		count += trees[i] >= 0;
	for (size_t i = 0; count < SHARE_PLACES && i < SHARE_PLACES; i++)
		if (trees[i] >= 0)
			io_close(TAKE_FD(trees[i]));
	return count == SHARE_PLACES;
}

static int receive(int socket, struct share_reply *ret, int ret_trees[SHARE_PLACES],
		   struct error *err)
{
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	int status;

	do
		status = poll(&ready, 1, ANSWER_MS);
	while (status < 0 && errno == EINTR);
	ssize_t n = status > 0 ?
			    protocol_receive(socket, ret, sizeof(*ret), ret_trees, SHARE_PLACES) :
			    -1;
	if (n != (ssize_t)sizeof(*ret))
		return error_set(err, ERR_SANDBOX, "who mounts the inputs does not answer");
	if (ret->failure.step[0] != '\0')
		return connection_failure(&ret->failure, err);
	return has_all(ret_trees) ? 0 : error_set(err, ERR_SANDBOX, "the inputs were not mounted");
}

static int ask(const struct native *s, int list, int userns, struct share_reply *ret,
	       int *ret_trees, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "socketpair");
	int fds[3];
	fds[0] = above(pair[1]);
	fds[1] = fcntl(list, F_DUPFD_CLOEXEC, SHARE_USERNS_FD + 1);
	fds[2] = fcntl(userns, F_DUPFD_CLOEXEC, SHARE_USERNS_FD + 1);
	pid_t pid = 0;
	int status =
		fds[0] < 0 || fds[1] < 0 || fds[2] < 0 ? errno : spawn(s->keeper_path, fds, &pid);
	for (size_t i = 0; i < 3; i++)
		if (fds[i] >= 0)
			io_close(fds[i]);
	if (status != 0)
		error_set_errno(err, ERR_SANDBOX, status, "start %s", s->keeper_path);
	else
		status = receive(pair[0], ret, ret_trees, err);
	io_close(pair[0]);
	if (pid > 0) {
		kill(pid, SIGKILL); /* its answer is all that was wanted of it */
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return status == 0 ? 0 : -1;
}

/* --- the job's --- */

static int share(struct native *s, const struct sandbox_job *job, size_t count,
		 struct share_reply *ret, int *ret_trees, struct error *err)
{
	struct pollfd end = { .fd = s->socket };

	if (count > SHARE_MAX)
		return error_set(err, ERR_SANDBOX, "more than %d inputs", SHARE_MAX);
	/* What is mounted is of one keeper: not of one that has died since. */
	if (s->keeper != 0 && poll(&end, 1, 0) > 0 && (end.revents & (POLLHUP | POLLERR)))
		connection_close(s);
	if (connection_open(s, err) < 0)
		return -1;
	cleanup_free char *path = mem_printf("/proc/%d/ns/user", (int)s->keeper);
	cleanup_close int userns = io_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (userns < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", path);
	cleanup_close int list = make_list(s, job, count, err);
	return list < 0 ? -1 : ask(s, list, userns, ret, ret_trees, err);
}

static void note_way(struct input_share *ret, size_t input, enum share_way way, const char *why)
{
	ret->ways[input].mounted = way != SHARE_NOT;
	if (way == SHARE_NOT)
		ret->ways[input].why = mem_strdup(why);
	*(way == SHARE_NOT    ? &ret->copied :
	  way == SHARE_MAPPED ? &ret->mapped :
				&ret->mounted) += 1;
}

/* A run never begins without the environment that it is to have. */
static int check_environment(const struct native *s, const struct share_reply *reply, size_t first,
			     struct error *err)
{
	for (size_t i = 0; i < s->own.count; i++)
		if (reply->ways[first + i] == SHARE_NOT)
			return error_set_errno(err, ERR_SANDBOX, reply->errnums[first + i],
					       "the environment %s cannot be shown to the program",
					       s->own.folders[i].path);
	return 0;
}

static int note_all(const struct native *s, const struct sandbox_job *job,
		    const struct share_reply *reply, const char *failure, struct input_share *ret,
		    struct error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < job->input_count; i++) {
		if (!job->inputs[i].source)
			continue;
		note_way(ret, i, failure ? SHARE_NOT : (enum share_way)reply->ways[n],
			 failure ? failure : strerror(reply->errnums[n]));
		n++;
	}
	return failure ? 0 : check_environment(s, reply, n, err);
}

int share_inputs(struct native *s, const struct sandbox_job *job, struct input_share *ret,
		 struct error *err)
{
	size_t sources = count_sources(job), count = sources + s->own.count;
	cleanup_free struct share_reply *reply = NULL;
	int trees[SHARE_PLACES] = { -1, -1 };

	*ret = (struct input_share){ .tree = -1, .env = -1 };
	if (count == 0)
		return 0;
	reply = mem_alloc(sizeof(*reply));
	ret->ways = mem_array(NULL, job->input_count + 1, sizeof(*ret->ways));
	memset(ret->ways, 0, (job->input_count + 1) * sizeof(*ret->ways));
	ret->count = job->input_count;
	struct error failure = ERROR_INIT;
	if (share(s, job, count, reply, trees, &failure) < 0 && s->own.count > 0) {
		*err = failure;
		return error_wrap(err, "the environment cannot be shown to the program");
	}
	ret->tree = trees[SHARE_INPUT];
	ret->env = trees[SHARE_ENVIRONMENT];
	if (sources == 0 && ret->tree >= 0)
		io_close(TAKE_FD(ret->tree));
	if (s->own.count == 0 && ret->env >= 0)
		io_close(TAKE_FD(ret->env));
	ret->own = ret->env >= 0 ? &s->own : NULL;
	return note_all(s, job, reply, failure.kind == ERR_NONE ? NULL : failure.message, ret, err);
}

void input_share_release(struct input_share *shared)
{
	if (shared->tree >= 0)
		io_close(shared->tree);
	if (shared->env >= 0)
		io_close(shared->env);
	for (size_t i = 0; i < shared->count; i++)
		free(shared->ways[i].why);
	free(shared->ways);
	*shared = (struct input_share){ .tree = -1, .env = -1 };
}

/* "3 mounted, 1 mounted with its owner's right, 2 copied (Permission denied)" */
void input_share_describe(const struct input_share *shared, struct buf *out)
{
	const struct {
		size_t count;
		const char *word;
	} rows[] = {
		{ shared->mounted, "mounted" },
		{ shared->mapped, "mounted with the owner's right" },
		{ shared->copied, "copied" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].count > 0)
			buf_addf(out, "%s%zu %s", out->len > 0 ? ", " : "", rows[i].count,
				 rows[i].word);
	for (size_t i = 0; i < shared->count; i++)
		if (shared->ways[i].why) {
			buf_addf(out, " (%s)", shared->ways[i].why);
			return;
		}
}
