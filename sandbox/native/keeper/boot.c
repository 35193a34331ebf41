/*
 * The keeper as pid 1 of a machine of its own (machine.c starts it): what the kernel starts from
 * the initramfs. It loads the kernel modules that lie there in the order of their names, makes the
 * image on the first disk the root, read-only, and starts the far end (far.c) on the one stream
 * that leads out: a port of virtio's serial device, or a vsock that listens. It is never told
 * anything else and starts nothing else; when the far end has ended, so has the machine.
 */
#include "sandbox/native/keeper/boot.h"

#include "sandbox/native/keeper/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/vm_sockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MODULES_MAX 32
#define APPEAR_MS   10000 /* for a device after its driver */
#define COMPRESSED  4	  /* MODULE_INIT_COMPRESSED_FILE */

/* The serial device is called as it was found: /dev/vport1p2. -1: there is no such port. */
static int open_port(unsigned number, int flags)
{
	DIR *dev = opendir("/dev");
	unsigned device, port;
	struct dirent *entry;
	int fd = -1;

	while (dev && fd < 0 && (entry = readdir(dev)))
		if (sscanf(entry->d_name, "vport%up%u", &device, &port) == 2 && port == number)
			fd = openat(dirfd(dev), entry->d_name, flags | O_CLOEXEC);
	if (dev)
		closedir(dev);
	return fd;
}

/* Where the machine's starter reads what went wrong; the kernel's own console has no driver. */
static int complain(const char *what, int error)
{
	int fd = open_port(BOOT_PORT_ERRORS, O_WRONLY | O_NONBLOCK);
	char line[300];
	int n = snprintf(line, sizeof(line), "the machine: %s: %s\n", what, strerror(error));

	if (fd >= 0 && n > 0)
		(void)!write(fd, line, (size_t)n);
	close_all(&fd, 1);
	return -1;
}

/* --- modules --- */

static int load(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	const char *end = strrchr(name, '.');
	int flags = end && strcmp(end, ".ko") ? COMPRESSED : 0;
	long status = fd < 0 ? -1 : syscall(SYS_finit_module, fd, "", flags);
	int saved = errno;

	close_all(&fd, 1);
	errno = saved;
	return status < 0 && errno != EEXIST ? -1 : 0;
}

static int order(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_module(const struct dirent *entry)
{
	return strstr(entry->d_name, ".ko") != NULL;
}

static int load_modules(void)
{
	struct dirent **names;
	int count = scandir(BOOT_MODULES, &names, is_module, order);
	int folder = open(BOOT_MODULES, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = 0;

	for (int i = 0; i < count && status == 0; i++)
		if (load(folder, names[i]->d_name) < 0)
			status = complain(names[i]->d_name, errno);
	return status;
}

/* --- the root --- */

static bool appears(const char *path)
{
	for (int i = 0; i < APPEAR_MS && access(path, F_OK) < 0; i++)
		poll(NULL, 0, 1);
	return access(path, F_OK) == 0;
}

struct mounted {
	const char *kind, *to;
	unsigned long flags;
	const char *options;
};

static int mount_all(const struct mounted *m, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (mount(m[i].kind, m[i].to, m[i].kind, m[i].flags, m[i].options) < 0)
			return complain(m[i].to, errno);
	return 0;
}

/* What one of them counts nobody counts then, and the keeper says so. */
static void divide_groups(void)
{
	static const char *const orders[] = { "+memory", "+pids", "+cpu" };

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		file_write(AT_FDCWD, "/sys/fs/cgroup/cgroup.subtree_control", orders[i]);
}

/* A run's limit on memory decides, and not how much of it this machine has. */
static void promise_memory(void)
{
	file_write(AT_FDCWD, "/proc/sys/vm/overcommit_memory", "1");
}

/* The image has a folder for each. */
static int enter_image(void)
{
	static const char *const moved[] = { "/proc", "/dev" };
	static const struct mounted more[] = {
		{ "sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
		{ "cgroup2", "/sys/fs/cgroup", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
		{ "tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "size=64m,mode=1777" },
	};

	if (!appears(BOOT_DISK) ||
	    mount(BOOT_DISK, "/root", "ext4", MS_RDONLY | MS_NOSUID | MS_NODEV, "noload") < 0)
		return complain("the image", errno);
	for (size_t i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		char to[32];

		snprintf(to, sizeof(to), "/root%s", moved[i]);
		if (mount(moved[i], to, NULL, MS_MOVE, NULL) < 0)
			return complain(to, errno);
	}
	if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		return complain("the root", errno);
	if (mount_all(more, sizeof(more) / sizeof(more[0])) < 0)
		return -1;
	divide_groups();
	promise_memory();
	return 0;
}

/* --- the stream --- */

/* There is somebody at the other end. */
static int wait_for_host(int fd)
{
	struct pollfd port = { .fd = fd, .events = POLLIN | POLLOUT };

	for (int i = 0; i < APPEAR_MS; i++) {
		if (poll(&port, 1, 0) > 0 && !(port.revents & (POLLHUP | POLLERR)))
			return 0;
		poll(NULL, 0, 1);
	}
	errno = ETIMEDOUT;
	return -1;
}

/* Who waits here can be kept as a snapshot: nothing has been said yet. */
static int listen_for_host(void)
{
	const struct sockaddr_vm address = { .svm_family = AF_VSOCK,
					     .svm_cid = VMADDR_CID_ANY,
					     .svm_port = BOOT_VSOCK_PORT };
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    bind(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) < 0 ||
	    listen(fd, 1) < 0)
		return -1;
	int accepted = -1;
	for (;;) {
		accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		char byte;
		if (accepted < 0 || (read(accepted, &byte, 1) == 1 && byte == *BOOT_BEGIN))
			break;
		close(accepted);
	}
	close_all(&fd, 1); /* one stream, ever */
	return accepted;
}

static int open_stream(void)
{
	if (access(BOOT_VSOCK, F_OK) == 0)
		return listen_for_host();
	int fd = -1;
	for (int i = 0; i < APPEAR_MS && fd < 0; i++) {
		fd = open_port(BOOT_PORT_STREAM, O_RDWR);
		if (fd < 0)
			poll(NULL, 0, 1);
	}
	return fd >= 0 && wait_for_host(fd) < 0 ? -1 : fd;
}

static pid_t start_far_end(int stream)
{
	static char name[] = "assay-keeper", word[] = "--stream";
	char *argv[] = { name, word, NULL }, *env[] = { NULL };
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	int errors = open_port(BOOT_PORT_ERRORS, O_WRONLY);
	if (errors < 0)
		errors = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (setsid() < 0 || dup2(stream, 0) < 0 || dup2(stream, 1) < 0 || dup2(errors, 2) < 0)
		_exit(127);
	execve("/proc/self/exe", argv, env);
	_exit(127);
}

/* Orphans of every run are ours. */
static void reap_until(pid_t pid)
{
	pid_t one;

	do
		one = wait(NULL);
	while (one > 0 && one != pid);
}

void boot_main(void)
{
	static const struct mounted first[] = {
		{ "proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL },
		{ "devtmpfs", "/dev", MS_NOSUID | MS_NOEXEC, NULL },
	};

	umask(022);
	pid_t pid = -1;
	if (mount_all(first, 2) == 0 && load_modules() == 0 && enter_image() == 0) {
		int stream = open_stream();
		pid = stream < 0 ? complain("the stream", errno) : start_far_end(stream);
		close_all(&stream, 1);
	}
	if (pid > 0)
		reap_until(pid);
	reboot(RB_AUTOBOOT); /* the starter takes that for the end */
	for (;;)
		pause();
}
