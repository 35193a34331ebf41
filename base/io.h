/*
 * Files and descriptors. The first functions are the seam: what else here, in audit/, llm/ and
 * agent/ opens, makes, writes, syncs, renames or removes a file of ours goes through them
 * (tests/layers sees to that), so that a test can make the Nth one fail (-Wl,--wrap=io_write and so
 * on). What is no file of ours, a terminal, a pipe, /dev/null, a guest's own tree, need not. All
 * retry EINTR; descriptors are CLOEXEC.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/buf.h"
#include "base/error.h"

#include <stddef.h>
#include <sys/types.h>

/* The seam: libc's meaning, errno set. */
int io_open(const char *path, int flags, mode_t mode);
int io_openat(int folder, const char *name, int flags);
ssize_t io_read(int fd, void *bytes, size_t len);
ssize_t io_write(int fd, const void *bytes, size_t len);
int io_fsync(int fd);
int io_datasync(int fd);
int io_rename(const char *from, const char *to);
int io_unlink(const char *path);
int io_mkdir(const char *path, mode_t mode);
int io_close(int fd);

/* All len bytes or -1. */
int io_write_all(int fd, const void *bytes, size_t len, struct error *err);

/*
 * The whole of a regular file (or of standard input for "-") appended to out.
 * A directory, a device, an unreadable file, one larger than out's ceiling:
 * each its own message that names the path. On failure out is as it was.
 */
int io_read_file(const char *path, struct buf *out, struct error *err);
int io_read_fd(int fd, const char *name, struct buf *out, struct error *err);
/* The same of a file that is open already (O_NONBLOCK, in case it is no file). */
int io_read_open_file(int fd, const char *name, struct buf *out, struct error *err);

/*
 * Replaces path with bytes so that a reader or a crash sees the old file or
 * the new one, never half of it (temporary file in the same folder, fsync,
 * rename, fsync of the folder). mode as for open, umask applied. A symbolic
 * link is itself replaced, not what it points to. On failure the old file is
 * there and nothing else is left, but when only the folder's fsync failed,
 * the new file is.
 */
int io_replace_file(const char *path, const void *bytes, size_t len, mode_t mode,
		    struct error *err);

/* mkdir -p with mode for what is made. */
int io_make_dirs(const char *path, mode_t mode, struct error *err);

#endif
