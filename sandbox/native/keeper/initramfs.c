/*
 * The archive that a machine's kernel unpacks and starts from ("newc" of cpio): this program, the
 * few drivers it needs, folders. Made anew for each start, of files that are read and never
 * changed, so that none of it can be old. It knows nothing of what will run.
 */
#include "sandbox/native/keeper/boot.h"

#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MODE   (S_IFREG | 0755)
#define FOLDER_MODE (S_IFDIR | 0755)

/* In the order in which one needs another. */
static const char *const common[] = {
	"drivers/virtio/virtio_ring",
	"drivers/virtio/virtio",
	"drivers/virtio/virtio_mmio",
	"drivers/block/virtio_blk",
	"lib/crc16",
	"lib/libcrc32c",
	"crypto/crc32c_generic",
	"fs/mbcache",
	"fs/jbd2/jbd2",
	"fs/ext4/ext4",
};
static const char *const serial[] = { "drivers/char/virtio_console" };
static const char *const vsock_modules[] = {
	"net/vmw_vsock/vsock",
	"net/vmw_vsock/vmw_vsock_virtio_transport_common",
	"net/vmw_vsock/vmw_vsock_virtio_transport",
};
static const char *const endings[] = { "", ".xz", ".zst", ".gz" };

struct archive {
	int fd;
	unsigned number; /* of the file, which tells them apart */
	size_t len;
};

static int put(struct archive *a, const void *bytes, size_t len)
{
	const char *at = bytes;

	a->len += len;
	while (len > 0) {
		ssize_t n = write(a->fd, at, len);

		if (n < 0 && errno != EINTR)
			return -1;
		at += n < 0 ? 0 : n;
		len -= n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

static int pad(struct archive *a)
{
	return put(a, "\0\0\0", (4 - a->len % 4) % 4);
}

static int put_head(struct archive *a, const char *name, unsigned mode, size_t size)
{
	char head[111];

	snprintf(head, sizeof(head), "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		 ++a->number, mode, 0u, 0u, 1u, 0u, (unsigned)size, 0u, 0u, 0u, 0u,
		 (unsigned)strlen(name) + 1, 0u);
	return put(a, head, 110) < 0 || put(a, name, strlen(name) + 1) < 0 ? -1 : pad(a);
}

static int put_file(struct archive *a, const char *name, int from)
{
	struct stat st;

	if (fstat(from, &st) < 0 || put_head(a, name, FILE_MODE, (size_t)st.st_size) < 0)
		return -1;
	off_t at = 0;
	while (at < st.st_size) {
		char bytes[65536];
		ssize_t n = pread(from, bytes, sizeof(bytes), at);

		if (n <= 0 || n > st.st_size - at || put(a, bytes, (size_t)n) < 0)
			return -1;
		at += n;
	}
	return pad(a);
}

/* One that is not there is built into the kernel, or missed by who needs it. */
static int put_module(struct archive *a, const char *folder, const char *module)
{
	const char *name = strrchr(module, '/') + 1;

	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/kernel/%s.ko%s", folder, module, endings[i]);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		char to[128];
		snprintf(to, sizeof(to), "%s/%03u-%s.ko%s", &BOOT_MODULES[1], a->number, name,
			 endings[i]);
		int status = put_file(a, to, fd);
		close(fd);
		return status;
	}
	return 0;
}

static int put_modules(struct archive *a, const char *folder, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (put_module(a, folder, list[i]) < 0)
			return -1;
	return 0;
}

static int fill(struct archive *a, const char *folder, bool vsock)
{
	static const char *const folders[] = { "dev", "proc", "root", &BOOT_MODULES[1] };
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), status = 0;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && status == 0; i++)
		status = put_head(a, folders[i], FOLDER_MODE, 0);
	if (status == 0)
		status = self < 0 ? -1 : put_file(a, &KEEPER_INIT[1], self);
	close_all(&self, 1);
	if (status < 0 || put_modules(a, folder, common, sizeof(common) / sizeof(common[0])) < 0 ||
	    put_modules(a, folder, vsock ? vsock_modules : serial,
			vsock ? sizeof(vsock_modules) / sizeof(vsock_modules[0]) :
				sizeof(serial) / sizeof(serial[0])) < 0)
		return -1;
	return put_head(a, "TRAILER!!!", 0, 0);
}

int initramfs_make(const char *folder, bool vsock, int *ret_fd)
{
	struct archive a = { .fd = memfd_create("assay-initramfs", MFD_CLOEXEC) };

	if (a.fd < 0 || fill(&a, folder, vsock) < 0) {
		close_all(&a.fd, 1);
		return -1;
	}
	*ret_fd = a.fd;
	return 0;
}
