/*
 * Opening an input that stays where it is, and telling whether it still is what it was. It reads
 * no contents and follows a link only on the way to what was named.
 */
#include "agent/input/input.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY)

static const char *kind_of(mode_t mode)
{
	return S_ISFIFO(mode) ? "a named pipe" :
	       S_ISSOCK(mode) ? "a socket" :
	       S_ISCHR(mode)  ? "a device" :
	       S_ISBLK(mode)  ? "a device" :
				NULL;
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Where it is, by the kernel's word, which knows no links. */
static char *path_of(int fd)
{
	cleanup_free char *link = mem_printf("/proc/self/fd/%d", fd);
	char path[PATH_MAX];
	ssize_t n = readlink(link, path, sizeof(path) - 1);

	return n > 0 && *path == '/' ? mem_strndup(path, (size_t)n) : NULL;
}

static int stamp_file(struct input *i, struct error *err)
{
	struct stat st;

	if (fstat(i->source.fd, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", i->source.path);
	cleanup_free char *text =
		mem_printf("file %llu %llu %lld %lld %lld", (unsigned long long)st.st_dev,
			   (unsigned long long)st.st_ino, (long long)st.st_size,
			   (long long)ns_of(&st.st_mtim), (long long)ns_of(&st.st_ctim));
	hash_sha256(text, strlen(text), i->stamp);
	i->bytes = st.st_size;
	i->entries = 1;
	i->mtime_ms = ns_of(&st.st_mtim) / 1000000;
	return 0;
}

static int look(struct input *i, struct error *err)
{
	return i->source.folder ? input_walk(i, err) : stamp_file(i, err);
}

static int check_kind(int fd, const char *path, bool *ret_folder, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", path);
	*ret_folder = S_ISDIR(st.st_mode);
	if (!*ret_folder && !S_ISREG(st.st_mode))
		return error_set(err, ERR_USAGE, "%s: is %s, not a regular file or a folder", path,
				 kind_of(st.st_mode));
	if (beneath_is_kernels(fd))
		return error_set(err, ERR_USAGE,
				 "%s: is the kernel's word, not a file: give a copy of it", path);
	return 0;
}

int input_open_fd(struct input **ret, int fd, const char *path, struct error *err)
{
	struct input *i = mem_alloc(sizeof(*i));

	i->source.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (i->source.fd < 0) {
		error_set_errno(err, ERR_FAILED, errno, "%s", path);
	} else if (check_kind(fd, path, &i->source.folder, err) == 0) {
		i->source.path = path_of(fd);
		if (!i->source.path)
			error_set(err, ERR_FAILED, "%s: where it is cannot be told", path);
		else if (look(i, err) == 0) {
			*ret = i;
			return 0;
		}
	}
	input_close(i);
	return -1;
}

/* A socket cannot be opened, and a pipe or a device shall not be: that alone can do something. */
int input_open_path(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && kind_of(st.st_mode))
		return error_set(err, ERR_USAGE, "%s: is %s, not a regular file or a folder", path,
				 kind_of(st.st_mode));
	int fd = io_open(path, OPEN_FLAGS, 0);
	return fd >= 0 ? fd : error_set_errno(err, ERR_FAILED, errno, "%s", path);
}

void input_close(struct input *i)
{
	if (!i)
		return;
	if (i->source.fd >= 0)
		io_close(i->source.fd);
	char *path;
	memcpy(&path, &i->source.path, sizeof(path));
	free(path);
	free(i->dead);
	free(i);
}

const struct input *input_of(const struct sandbox_source *source)
{
	const struct input *input;

	memcpy(&input, &source, sizeof(input)); /* its first member */
	return input;
}

bool input_holds(const struct input *i, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	size_t len = strlen(i->source.path);

	if (!real || strncmp(real, i->source.path, len))
		return false;
	return !real[len] || (i->source.folder && (real[len] == '/' || len == 1));
}

void input_look_again(struct input *i)
{
	struct input now = { .source = i->source };
	struct error ignored = ERROR_INIT;

	if (look(&now, &ignored) < 0 || strcmp(now.stamp, i->stamp))
		i->changed = true;
	free(now.dead);
}

struct json *input_json(const struct input *i)
{
	struct json *object = json_object();

	json_set_string(object, "path", i->source.path);
	json_set_bool(object, "folder", i->source.folder);
	json_set_int(object, "bytes", i->bytes);
	json_set_int(object, "entries", i->entries);
	json_set_int(object, "mtime_ms", i->mtime_ms);
	json_set_string(object, "stamp", i->stamp);
	return object;
}
