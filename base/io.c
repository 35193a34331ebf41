/*
 * The seam: nothing here but libc, EINTR and CLOEXEC (see io.h). It must stay that thin: what
 * stands here is what a test can make fail.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

int io_open(const char *path, int flags, mode_t mode)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC, mode);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int io_openat(int folder, const char *name, int flags)
{
	int fd;

	do
		fd = openat(folder, name, flags | O_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	return fd;
}

ssize_t io_read(int fd, void *bytes, size_t len)
{
	ssize_t got;

	do
		got = read(fd, bytes, len);
	while (got < 0 && errno == EINTR);
	return got;
}

ssize_t io_write(int fd, const void *bytes, size_t len)
{
	ssize_t put;

	do
		put = write(fd, bytes, len);
	while (put < 0 && errno == EINTR);
	return put;
}

int io_fsync(int fd)
{
	int rc;

	do
		rc = fsync(fd);
	while (rc < 0 && errno == EINTR);
	return rc;
}

int io_datasync(int fd)
{
	int rc;

	do
		rc = fdatasync(fd);
	while (rc < 0 && errno == EINTR);
	return rc;
}

int io_rename(const char *from, const char *to)
{
	return rename(from, to);
}

int io_unlink(const char *path)
{
	return unlink(path);
}

int io_mkdir(const char *path, mode_t mode)
{
	return mkdir(path, mode);
}

int io_close(int fd)
{
	/* Linux has closed it even when a signal came in between: never twice. */
	return close(fd) < 0 && errno != EINTR ? -1 : 0;
}
