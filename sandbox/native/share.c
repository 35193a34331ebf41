/*
 * The inputs of a job that are seen where they are: lists them for the sharer (keeper/share.c),
 * which is started for this one job, and takes the mount that it makes of them. What cannot be
 * had so is said per input, for whoever copies it instead.
 */
#include "sandbox/native/internal.h"

#include "base/io.h"
#include "base/mem.h"
#include "sandbox/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
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

static int add_record(int fd, const struct sandbox_file *file, struct error *err)
{
	const struct sandbox_source *source = file->source;
	cleanup_buf struct buf record = BUF_INIT(1 << 16);
	struct share_record head = { .name_len = (uint32_t)strlen(file->path),
				     .path_len = (uint32_t)strlen(source->path),
				     .folder = source->folder };
	struct stat st;

	if (fstat(source->fd, &st) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", source->path);
	head.dev = st.st_dev;
	head.ino = st.st_ino;
	buf_add(&record, &head, sizeof(head));
	buf_add(&record, file->path, head.name_len + 1);
	buf_add(&record, source->path, head.path_len + 1);
	return write_padded(fd, record.data, record.len, err);
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
		if (job->inputs[i].source != NULL && add_record(fd, &job->inputs[i], err) < 0)
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
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int status;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], SHARE_SOCKET_FD + i);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, 0, 1);
	posix_spawn_file_actions_adddup2(&actions, 0, 2);
	posix_spawn_file_actions_addclosefrom_np(&actions, SHARE_USERNS_FD + 1);
	status = posix_spawn(ret_pid, path, &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return status;
}

static int receive(int socket, struct share_reply *ret, int *ret_tree, struct error *err)
{
	const struct native end = { .socket = socket };
	struct pollfd ready = { .fd = socket, .events = POLLIN };
	ssize_t n;
	int status;

	do
		status = poll(&ready, 1, ANSWER_MS);
	while (status < 0 && errno == EINTR);
	n = status > 0 ? connection_receive(&end, ret, sizeof(*ret), ret_tree) : -1;
	if (n != (ssize_t)sizeof(*ret))
		return error_set(err, ERR_SANDBOX, "who mounts the inputs does not answer");
	if (ret->failure.step[0] != '\0')
		return connection_failure(&ret->failure, err);
	return *ret_tree >= 0 ? 0 : error_set(err, ERR_SANDBOX, "the inputs were not mounted");
}

static int ask(const struct native *s, int list, int userns, struct share_reply *ret, int *ret_tree,
	       struct error *err)
{
	int pair[2], fds[3], status;
	pid_t pid = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "socketpair");
	fds[0] = above(pair[1]);
	fds[1] = fcntl(list, F_DUPFD_CLOEXEC, SHARE_USERNS_FD + 1);
	fds[2] = fcntl(userns, F_DUPFD_CLOEXEC, SHARE_USERNS_FD + 1);
	status = fds[0] < 0 || fds[1] < 0 || fds[2] < 0 ? errno : spawn(s->keeper_path, fds, &pid);
	for (size_t i = 0; i < 3; i++)
		if (fds[i] >= 0)
			io_close(fds[i]);
	if (status != 0)
		error_set_errno(err, ERR_SANDBOX, status, "start %s", s->keeper_path);
	else
		status = receive(pair[0], ret, ret_tree, err);
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
		 struct share_reply *ret, int *ret_tree, struct error *err)
{
	cleanup_free char *path = NULL;
	cleanup_close int list = -1, userns = -1;

	if (count > SHARE_MAX)
		return error_set(err, ERR_SANDBOX, "more than %d inputs", SHARE_MAX);
	if (connection_open(s, err) < 0)
		return -1;
	path = mem_printf("/proc/%d/ns/user", (int)s->keeper);
	userns = io_open(path, O_RDONLY | O_CLOEXEC, 0);
	if (userns < 0)
		return error_set_errno(err, ERR_SANDBOX, errno, "%s", path);
	list = make_list(s, job, count, err);
	return list < 0 ? -1 : ask(s, list, userns, ret, ret_tree, err);
}

static void note_failure(struct input_share *ret, size_t input, const char *why)
{
	ret->copied++;
	ret->ways[input].why = mem_strdup(why);
}

int share_inputs(struct native *s, const struct sandbox_job *job, struct input_share *ret,
		 struct error *err)
{
	size_t count = count_sources(job), n = 0;
	cleanup_free struct share_reply *reply = NULL;
	bool is_there;

	*ret = (struct input_share){ .tree = -1 };
	if (count == 0)
		return 0;
	reply = mem_alloc(sizeof(*reply));
	ret->ways = mem_array(NULL, job->input_count, sizeof(*ret->ways));
	memset(ret->ways, 0, job->input_count * sizeof(*ret->ways));
	ret->count = job->input_count;
	is_there = share(s, job, count, reply, &ret->tree, err) == 0;
	for (size_t i = 0; i < job->input_count; i++) {
		if (job->inputs[i].source == NULL)
			continue;
		ret->ways[i].mounted = is_there && reply->ways[n] != SHARE_NOT;
		if (ret->ways[i].mounted)
			*(reply->ways[n] == SHARE_MAPPED ? &ret->mapped : &ret->mounted) += 1;
		else
			note_failure(ret, i, is_there ? strerror(reply->errnums[n]) : err->message);
		n++;
	}
	error_clear(err);
	return 0;
}

void input_share_release(struct input_share *shared)
{
	if (shared->tree >= 0)
		io_close(shared->tree);
	for (size_t i = 0; i < shared->count; i++)
		free(shared->ways[i].why);
	free(shared->ways);
	*shared = (struct input_share){ .tree = -1 };
}

/* "3 mounted, 1 mounted with its owner's right, 2 copied (Permission denied)" */
void input_share_tell(const struct input_share *shared, struct buf *out)
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
		if (shared->ways[i].why != NULL) {
			buf_addf(out, " (%s)", shared->ways[i].why);
			return;
		}
}
