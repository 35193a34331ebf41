/*
 * Faults in the seam of base/io.h. A test that includes this is linked with --wrap for its
 * calls (UNIT_FAULTS in the Makefile): calls pass through until the chosen one (countdown) fails. A
 * short mode makes reads and writes move one byte at a time.
 */
#ifndef TEST_IO_FAULTS_H
#define TEST_IO_FAULTS_H

#include "base/io.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

int __real_io_open(const char *path, int flags, mode_t mode);
ssize_t __real_io_read(int fd, void *bytes, size_t len);
ssize_t __real_io_write(int fd, const void *bytes, size_t len);
int __real_io_fsync(int fd);
int __real_io_rename(const char *from, const char *to);
int __real_io_openat(int folder, const char *name, int flags);
int __real_io_datasync(int fd);
int __real_io_unlink(const char *path);
int __real_io_mkdir(const char *path, mode_t mode);
int __real_io_close(int fd);
int __wrap_io_open(const char *path, int flags, mode_t mode);
ssize_t __wrap_io_read(int fd, void *bytes, size_t len);
ssize_t __wrap_io_write(int fd, const void *bytes, size_t len);
int __wrap_io_fsync(int fd);
int __wrap_io_rename(const char *from, const char *to);
int __wrap_io_openat(int folder, const char *name, int flags);
int __wrap_io_datasync(int fd);
int __wrap_io_unlink(const char *path);
int __wrap_io_mkdir(const char *path, mode_t mode);
int __wrap_io_close(int fd);

static int countdown; /* 0: nothing fails; N: the Nth call from now does */
static int fired;
static int fault_errno = EIO;
static const char *fault_name;
static bool short_transfers, zero_writes;

/* From here on the Nth call fails; fired says whether it came to that. */
static inline void faults_begin(int n)
{
	fired = 0;
	fault_name = NULL;
	countdown = n;
}

/* Nothing fails any more. Returns whether something did. */
static inline bool faults_end(void)
{
	countdown = 0;
	return fired > 0;
}

static bool fault(const char *name)
{
	if (!countdown || --countdown)
		return false;
	fired++;
	fault_name = name;
	errno = fault_errno;
	return true;
}

int __wrap_io_open(const char *path, int flags, mode_t mode)
{
	return fault("open") ? -1 : __real_io_open(path, flags, mode);
}

ssize_t __wrap_io_read(int fd, void *bytes, size_t len)
{
	return fault("read") ? -1 : __real_io_read(fd, bytes, short_transfers ? 1 : len);
}

ssize_t __wrap_io_write(int fd, const void *bytes, size_t len)
{
	if (fault("write"))
		return -1;
	return zero_writes ? 0 : __real_io_write(fd, bytes, short_transfers ? 1 : len);
}

int __wrap_io_fsync(int fd)
{
	return fault("fsync") ? -1 : __real_io_fsync(fd);
}

int __wrap_io_openat(int folder, const char *name, int flags)
{
	return fault("openat") ? -1 : __real_io_openat(folder, name, flags);
}

int __wrap_io_datasync(int fd)
{
	return fault("datasync") ? -1 : __real_io_datasync(fd);
}

int __wrap_io_unlink(const char *path)
{
	return fault("unlink") ? -1 : __real_io_unlink(path);
}

int __wrap_io_mkdir(const char *path, mode_t mode)
{
	return fault("mkdir") ? -1 : __real_io_mkdir(path, mode);
}

int __wrap_io_rename(const char *from, const char *to)
{
	return fault("rename") ? -1 : __real_io_rename(from, to);
}

int __wrap_io_close(int fd)
{
	bool failing = fault("close");
	int rc = __real_io_close(fd); /* a failing close has closed */

	if (!failing)
		return rc;
	errno = fault_errno;
	return -1;
}

#endif
