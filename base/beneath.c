/*
 * Opening a path that must not leave a folder: by openat2 where the kernel has it, else step by
 * step without following a link. What leads outside, or into the kernel's own files, is refused.
 */
#include "base/beneath.h"

#include "base/io.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#define RACES_MAX 32 /* a folder renamed under us is asked for again */

static int open_resolved(int folder, const char *path, int flags)
{
	const struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd;
	int tries = 0;

	do
		fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
	while (fd < 0 && (errno == EINTR || (errno == EAGAIN && ++tries < RACES_MAX)));
	if (fd < 0 && errno == ELOOP)
		errno = EXDEV; /* a link of /proc, or links without an end */
	return (int)fd;
}

/* One step of a path; never through a link. */
static int open_step(int folder, const char *name, int flags)
{
	if (!strcmp(name, "..")) {
		errno = EXDEV;
		return -1;
	}
	int fd = io_openat(folder, name, flags | O_NOFOLLOW);
	if (fd < 0 && errno == ELOOP)
		errno = EXDEV;
	return fd;
}

static int open_by_steps(int folder, const char *path, int flags)
{
	cleanup_free char *copy = mem_strdup(path);
	cleanup_close int at = -1;
	char *rest = copy;

	if (*path == '/') {
		errno = EXDEV;
		return -1;
	}
	char *step;
	while ((step = strsep(&rest, "/"))) {
		if (rest && (!*step || !strcmp(step, ".")))
			continue;
		int next =
			open_step(at < 0 ? folder : at, step, rest ? O_PATH | O_DIRECTORY : flags);
		/* A link in the middle is no folder to O_NOFOLLOW. */
		if (next < 0 && rest && errno == ENOTDIR)
			errno = EXDEV;
		if (next < 0 || !rest)
			return next;
		mem_cleanup_close(&at);
		at = next;
	}
	errno = ENOENT;
	return -1;
}

int beneath_open(int folder, const char *path, int flags)
{
	int fd = open_resolved(folder, path, flags);

	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	return open_by_steps(folder, path, flags);
}

bool beneath_is_kernels(int fd)
{
	static const long magics[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC,	      CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		DEBUGFS_MAGIC,	  TRACEFS_MAGIC,      SECURITYFS_MAGIC,	  BPF_FS_MAGIC,
		PSTOREFS_MAGIC,	  SELINUX_MAGIC,      EFIVARFS_MAGIC,	  BINFMTFS_MAGIC,
		NSFS_MAGIC,	  DEVPTS_SUPER_MAGIC, PIPEFS_MAGIC,	  0x62656570, /* configfs */
	};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (fs.f_type == magics[i])
			return true;
	return false;
}
