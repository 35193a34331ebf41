/*
 * Whole files, over the seam in io.c: read with a ceiling, replaced so that nobody sees half of
 * one, folders made. No descriptor of a failed call stays open, and no temporary file is left.
 */
#include "base/io.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/ulid.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int io_write_all(int fd, const void *bytes, size_t len, struct error *err)
{
	const char *at = bytes;

	while (len) {
		ssize_t put = io_write(fd, at, len);
		if (put <= 0) /* 0 would be asked for ever */
			return error_set_errno(err, ERR_FAILED, put ? errno : EIO, "write");
		at += put;
		len -= (size_t)put;
	}
	return 0;
}

static int too_large(const char *name, const struct buf *out, struct error *err)
{
	return error_set_known(err, ERR_FAILED, EFBIG, "%s: larger than the limit of %zu bytes",
			       name, out->max);
}

/* Reads to the end; on failure some of it may be in out. */
static int read_rest(int fd, const char *name, struct buf *out, struct error *err)
{
	char extra = 0;
	ssize_t got;

	do {
		size_t want = out->max - out->len < 65536 ? out->max - out->len : 65536;
		/* One byte past the ceiling tells a full buffer from a too long file. */
		char *room = want ? buf_room(out, want) : &extra;
		if (!room)
			return too_large(name, out, err);
		got = io_read(fd, room, want ? want : 1);
		if (got < 0)
			return error_set_errno(err, ERR_FAILED, errno, "%s", name);
		if (got > 0 && !want)
			return too_large(name, out, err);
		buf_grew(out, (size_t)got);
	} while (got > 0);
	return 0;
}

int io_read_fd(int fd, const char *name, struct buf *out, struct error *err)
{
	size_t before = out->len;

	if (read_rest(fd, name, out, err) == 0)
		return 0;
	buf_truncate(out, before);
	return -1;
}

int io_read_open_file(int fd, const char *name, struct buf *out, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", name);
	if (S_ISDIR(st.st_mode))
		return error_set(err, ERR_FAILED, "%s: is a directory; name a file", name);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_FAILED, "%s: not a regular file", name);
	if ((size_t)st.st_size > out->max - out->len)
		return too_large(name, out, err);
	return io_read_fd(fd, name, out, err);
}

int io_read_file(const char *path, struct buf *out, struct error *err)
{
	if (!strcmp(path, "-"))
		return io_read_fd(STDIN_FILENO, "standard input", out, err);
	cleanup_close int fd = io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", path);
	return io_read_open_file(fd, path, out, err);
}

/* The folder that holds path, for the temporary file and the final fsync. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_strdup(".");
	return mem_strndup(path, slash == path ? 1 : (size_t)(slash - path));
}

/*
 * A new file beside path, *ret_name its name. The name does not contain path's
 * own, which may already be as long as a name can be.
 */
static int open_temporary(const char *folder, mode_t mode, char **ret_name, struct error *err)
{
	char id[ULID_LEN + 1];

	ulid_new(clock_wall_ms(), id);
	cleanup_free char *name = mem_printf("%s/.%s.tmp", folder, id);
	int fd = io_open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", name);
	*ret_name = TAKE_PTR(name);
	return fd;
}

static int fill_and_close(int fd, const void *bytes, size_t len, struct error *err)
{
	int rc = io_write_all(fd, bytes, len, err);

	if (!rc && io_fsync(fd) < 0)
		rc = error_set_errno(err, ERR_FAILED, errno, "fsync");
	if (io_close(fd) < 0 && !rc)
		rc = error_set_errno(err, ERR_FAILED, errno, "close");
	return rc;
}

static int sync_folder(const char *folder, struct error *err)
{
	int fd = io_open(folder, O_RDONLY | O_DIRECTORY, 0);

	if (fd < 0 && errno == EACCES) /* one may write in a folder one cannot read */
		return 0;
	if (fd < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", folder);
	int rc = 0;
	if (io_fsync(fd) < 0 && errno != EINVAL) /* EINVAL: a file system without */
		rc = error_set_errno(err, ERR_FAILED, errno, "%s: fsync", folder);
	if (io_close(fd) < 0 && !rc)
		rc = error_set_errno(err, ERR_FAILED, errno, "%s: close", folder);
	return rc;
}

int io_replace_file(const char *path, const void *bytes, size_t len, mode_t mode, struct error *err)
{
	cleanup_free char *folder = folder_of(path);
	cleanup_free char *temporary = NULL;

	int fd = open_temporary(folder, mode, &temporary, err);
	if (fd < 0)
		return error_wrap(err, "%s", path);
	int rc = fill_and_close(fd, bytes, len, err);
	if (!rc && io_rename(temporary, path) < 0)
		rc = error_set_errno(err, ERR_FAILED, errno, "rename");
	if (rc < 0) {
		io_unlink(temporary);
		return error_wrap(err, "%s", path);
	}
	return sync_folder(folder, err);
}

int io_make_dirs(const char *path, mode_t mode, struct error *err)
{
	cleanup_free char *copy = mem_strdup(path);

	for (char *slash = copy + 1; *copy && (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (io_mkdir(copy, mode) < 0 && errno != EEXIST)
			return error_set_errno(err, ERR_FAILED, errno, "%s", copy);
		*slash = '/';
	}
	if (io_mkdir(copy, mode) < 0 && errno != EEXIST)
		return error_set_errno(err, ERR_FAILED, errno, "%s", copy);
	struct stat st;
	if (stat(copy, &st) < 0)
		return error_set_errno(err, ERR_FAILED, errno, "%s", copy);
	if (!S_ISDIR(st.st_mode))
		return error_set(err, ERR_FAILED, "%s: exists and is not a folder", copy);
	return 0;
}
