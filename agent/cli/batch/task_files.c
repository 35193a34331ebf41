/*
 * The files that a task names. Who wrote the task file need not be who runs it,
 * and what a program is given is sent to a model: a task reaches what is below
 * its own folder, or below what --files-from names, and nothing of the kernel's.
 */
#include "agent/cli/task_given.h"

#include "base/beneath.h"
#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY)

/* What of path is below root, both without links; NULL when it is not. */
static const char *below(const char *path, const char *root)
{
	size_t len = strlen(root);

	len -= len && root[len - 1] == '/';
	return !strncmp(path, root, len) && path[len] == '/' ? path + len + 1 : NULL;
}

static int open_in(const char *folder, const char *path)
{
	cleanup_close int at = io_open(folder, O_PATH | O_DIRECTORY, 0);

	return at < 0 ? -1 : beneath_open(at, path, OPEN_FLAGS);
}

/* Where the file really is: below which of the folders? */
static int open_real(const struct task_place *place, const char *real)
{
	cleanup_free char *own = realpath(place->folder, NULL);
	const char *rest = own ? below(real, own) : NULL;

	if (rest)
		return open_in(own, rest);
	for (size_t i = 0; i < place->allowed_count; i++) {
		cleanup_free char *root = realpath(place->allowed[i], NULL);

		rest = root ? below(real, root) : NULL;
		if (rest)
			return open_in(root, rest);
	}
	errno = EXDEV;
	return -1;
}

/* /dev/shm is somebody's when the task file is there, too. */
static bool is_kernels_path(const struct task_place *place, const char *real)
{
	cleanup_free char *own = realpath(place->folder, NULL);

	return below(real, "/proc") || below(real, "/sys") ||
	       (below(real, "/dev") && !(own && below(own, "/dev")));
}

static int refused(const char *path, const struct task_place *place, struct error *err)
{
	return error_set(err, ERR_USAGE,
			 "files: %s is not below %s, the folder of the task file: copy it there, "
			 "or allow its folder with --files-from DIR",
			 path, place->folder);
}

static int open_file(const struct task_place *place, const char *path, struct error *err)
{
	cleanup_free char *full =
		*path == '/' ? mem_strdup(path) : mem_printf("%s/%s", place->folder, path);
	cleanup_free char *real = realpath(full, NULL);

	if (is_kernels_path(place, real ? real : path) || is_kernels_path(place, path))
		return error_set(err, ERR_USAGE,
				 "files: %s: nothing of /proc, /sys or /dev is an "
				 "input",
				 path);
	int fd = -1;
	if (*path != '/')
		fd = open_in(place->folder, path);
	else
		errno = EXDEV;
	if (fd < 0 && errno == EXDEV && real)
		fd = open_real(place, real);
	if (fd < 0 && errno == EXDEV)
		return refused(path, place, err);
	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "files: %s", full);
	return fd;
}

int task_add_named(struct task *task, const struct task_place *place, const char *path,
		   struct error *err)
{
	cleanup_close int fd = open_file(place, path, err);

	if (fd < 0)
		return -1;
	if (beneath_is_kernels(fd))
		return error_set(err, ERR_USAGE,
				 "files: %s: nothing of /proc, /sys or /dev is an "
				 "input",
				 path);
	return task_add_open(task, NULL, path, fd, &place->taking, err);
}
