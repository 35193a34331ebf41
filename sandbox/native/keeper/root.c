/*
 * The fixed part of the isolation, made once per keeper: an unprivileged user,
 * the user, mount, net and uts namespaces, and the root a guest sees.
 *
 * The root is a read-only tmpfs with read-only binds of what programs need and
 * nothing that tells of this host or its people: no home of anybody, no /root, /run,
 * /sys, /var. No guest exists while it is built, and it lies in a mount namespace of
 * our own, so nobody can swap a path under it.
 */
#include "sandbox/native/keeper/root.h"

#include "sandbox/native/keeper/remedy.h"
#include "sandbox/native/keeper/util.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BASE "/tmp" /* any directory: only our mount namespace sees what we do to it */

/* What refuses, looked for now that something was. */
static int refused(struct protocol_failure *failure, const char *step)
{
	failure_set(failure, step, "");
	/* Where a call for one does nothing and says that all is well, there is no name for it. */
	strncpy(failure->remedy,
		access("/proc/self/status", F_OK) == 0 && access("/proc/self/ns/mnt", F_OK) < 0 ?
			"this kernel has no mount namespaces, of which the walls are made "
			"(gVisor's "
			"has none): use the runtime runc, or a sandbox that is a virtual machine" :
			remedy_userns(-1),
		sizeof(failure->remedy) - 1);
	return -1;
}

/* --- user --- */

static gid_t kept_group; /* 0: none */

static int become(unsigned id)
{
	return setgroups(kept_group != 0, &kept_group) < 0 || setresgid(id, id, id) < 0 ||
			       setresuid(id, id, id) < 0 ?
		       -1 :
		       0;
}

/*
 * Root of a user namespace (a rootless container) may lack our id and even
 * "nobody"; what it is to the host is unprivileged then, and it stays. Root of
 * the host has every id, so a failure there is a failure.
 */
static int drop_root(struct protocol_failure *failure)
{
	unsigned id = HOST_ID + (unsigned)getpid() % HOST_IDS;

	if (geteuid() != 0 || become(id) == 0)
		return 0;
	failure_set(failure, "drop root", "");
	char map[256];
	unsigned first, outside, count;
	if (file_read(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map)) < 0 ||
	    sscanf(map, "%u %u %u", &first, &outside, &count) != 3 || (outside == 0 && count > id))
		return -1;
	memset(failure, 0, sizeof(*failure));
	if (become(GUEST_ID) < 0 && geteuid() != 0)
		return failure_set(failure, "drop root", "");
	return 0;
}

static int enter_user_namespace(struct protocol_failure *failure)
{
	unsigned uid = geteuid(), gid = getegid();

	/* A change of uid took away our own /proc files. */
	if (prctl(PR_SET_DUMPABLE, 1) < 0)
		return failure_set(failure, "dumpable", "");
	if (unshare(CLONE_NEWUSER) < 0)
		return refused(failure, "user namespace");
	/* gVisor's kernel has no such file and asks nobody for it. */
	if (file_write(AT_FDCWD, "/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
		return refused(failure, "user namespace: setgroups");
	char map[64];
	snprintf(map, sizeof(map), "%u %u 1", GUEST_ID, uid);
	if (file_write(AT_FDCWD, "/proc/self/uid_map", map) < 0)
		return refused(failure, "user namespace: uid_map");
	snprintf(map, sizeof(map), "%u %u 1", GUEST_ID, gid);
	if (file_write(AT_FDCWD, "/proc/self/gid_map", map) < 0)
		return refused(failure, "user namespace: gid_map");
	return 0;
}

struct namespace_row {
	int flag;
	uint32_t bit;
	const char *step;
};

static const struct namespace_row namespace_rows[] = {
	{ CLONE_NEWNS, PROTOCOL_NS_MOUNT, "mount namespace" },
	{ CLONE_NEWUTS, PROTOCOL_NS_UTS, "uts namespace" },
};

static int enter_namespaces(uint32_t *ret_namespaces, struct protocol_failure *failure)
{
	for (size_t i = 0; i < sizeof(namespace_rows) / sizeof(namespace_rows[0]); i++) {
		if (unshare(namespace_rows[i].flag) < 0)
			return refused(failure, namespace_rows[i].step);
		*ret_namespaces |= namespace_rows[i].bit;
	}
	if (sethostname("assay", 5) < 0)
		return failure_set(failure, "hostname", "");
	/* A second lock: seccomp refuses new user namespaces, and so does the
	 * count. Where /proc/sys is read-only the first must do. */
	file_write(AT_FDCWD, "/proc/sys/user/max_user_namespaces", "0");
	return 0;
}

int root_isolate_net(struct protocol_failure *failure)
{
	return unshare(CLONE_NEWNET) < 0 ?
		       failure_set(
			       failure, "net namespace",
			       "check `sysctl user.max_net_namespaces` "
			       "(must not be 0) and that no seccomp profile refuses CLONE_NEWNET") :
		       0;
}

/* --- root --- */

static int bind_mount(const char *from, const char *to)
{
	/* gVisor's kernel knows no MS_REC; there is nothing below what is bound there. */
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0)
		return 0;
	return errno == EINVAL ? mount(from, to, NULL, MS_BIND, NULL) : -1;
}

/* /usr, and /bin, /lib, ... as this host has them: links or directories. */
static int add_system(void)
{
	static const char *const names[] = { "bin", "sbin", "lib", "lib32", "lib64", "libx32" };

	if (mkdir("usr", 0755) < 0 || bind_mount("/usr", "usr") < 0)
		return -1;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char host[32];

		snprintf(host, sizeof(host), "/%s", names[i]);
		struct stat st;
		if (lstat(host, &st) < 0)
			continue;
		if (S_ISLNK(st.st_mode)) {
			char target[256];
			ssize_t n = readlink(host, target, sizeof(target) - 1);
			if (n < 0)
				return -1;
			target[n] = '\0';
			if (symlink(target, names[i]) < 0)
				return -1;
		} else if (mkdir(names[i], 0755) < 0 || bind_mount(host, names[i]) < 0) {
			return -1;
		}
	}
	return 0;
}

static int write_new(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	ssize_t n = fd < 0 ? -1 : write(fd, text, len);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)len ? 0 : -1;
}

struct etc_file {
	const char *path, *text;
};

static const struct etc_file etc_files[] = {
	{ "etc/passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n"
			"guest:x:65534:65534:guest:/work:/bin/bash\n" },
	{ "etc/group", "root:x:0:\nguest:x:65534:\n" },
	{ "etc/hosts", "127.0.0.1 localhost assay\n" },
	{ "etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\nservices: files\n" },
};

/* Small public files of the host, copied: a bind would cost every run. */
static const char *const etc_copied[] = { "ld.so.cache", "mime.types", "matplotlibrc",
					  "protocols",	 "services",   "debian_version" };

/* Directories of the host's /etc that programs need, and every python3*. */
static const char *const etc_bound[] = { "alternatives", "fonts" };

static int add_etc_bind(const char *name)
{
	char from[300];

	snprintf(from, sizeof(from), "/etc/%s", name);
	char to[300];
	snprintf(to, sizeof(to), "etc/%s", name);
	struct stat st;
	if (stat(from, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	return mkdir(to, 0755) < 0 || bind_mount(from, to) < 0 ? -1 : 0;
}

static int add_etc_python(void)
{
	DIR *dir = opendir("/etc");

	if (!dir)
		return errno == ENOENT ? 0 : -1;
	struct dirent *entry;
	int status = 0;
	while (status == 0 && (entry = readdir(dir)))
		if (!strncmp(entry->d_name, "python3", 7))
			status = add_etc_bind(entry->d_name);
	closedir(dir);
	return status;
}

/* A small buffer: every page of a large one would cost a fault. */
static int copy_all(int from, int to)
{
	char text[16384];
	ssize_t n = -1;

	while (to >= 0 && (n = read(from, text, sizeof(text))) > 0)
		if (write(to, text, (size_t)n) != n)
			return -1;
	return n < 0 ? -1 : 0;
}

static int add_etc_copy(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/etc/%s", name);
	int from = open(path, O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return errno == ENOENT || errno == EACCES ? 0 : -1;
	int to = open(path + 1, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	int status = copy_all(from, to);
	close_all((int[]){ from, to }, 2);
	return status;
}

static int add_etc(void)
{
	if (mkdir("etc", 0755) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(etc_files) / sizeof(etc_files[0]); i++)
		if (write_new(etc_files[i].path, etc_files[i].text, strlen(etc_files[i].text)) < 0)
			return -1;
	for (size_t i = 0; i < sizeof(etc_copied) / sizeof(etc_copied[0]); i++)
		if (add_etc_copy(etc_copied[i]) < 0)
			return -1;
	for (size_t i = 0; i < sizeof(etc_bound) / sizeof(etc_bound[0]); i++)
		if (add_etc_bind(etc_bound[i]) < 0)
			return -1;
	if (symlink("../usr/lib/os-release", "etc/os-release") < 0)
		return -1;
	return add_etc_python();
}

static int add_dev(void)
{
	static const char *const nodes[] = { "null", "zero", "full", "random", "urandom" };
	static const char *const links[][2] = {
		{ "/proc/self/fd", "dev/fd" },
		{ "/proc/self/fd/0", "dev/stdin" },
		{ "/proc/self/fd/1", "dev/stdout" },
		{ "/proc/self/fd/2", "dev/stderr" },
	};

	if (mkdir("dev", 0755) < 0 || mkdir("dev/shm", 0755) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		char from[32];

		snprintf(from, sizeof(from), "/dev/%s", nodes[i]);
		char to[32];
		snprintf(to, sizeof(to), "dev/%s", nodes[i]);
		if (write_new(to, "", 0) < 0 || bind_mount(from, to) < 0)
			return -1;
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			return -1;
	return 0;
}

static int set_attributes(const char *path, unsigned flags, uint64_t attributes)
{
	struct mount_attr attr = { .attr_set = attributes };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, path, flags, &attr, sizeof(attr));
}

/*
 * A user namespace may mount a proc of its own only while it can see a whole
 * one, so the host's stays underneath; each run covers it with its own.
 */
static int add_proc(void)
{
	return bind_mount("/proc", "proc");
}

static int add_mount_points(void)
{
	static const char *const names[] = { "proc", "tmp", "work", "in", "out", "env" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mkdir(names[i], 0755) < 0)
			return -1;
	return 0;
}

/* Nobody's home, of this host or another: a name for a folder that a program may make for itself,
 * since clients of other services know their files by it. */
static int add_home(void)
{
	return mkdir("home", 0755) < 0 || symlink("../tmp/user", "home/user") < 0 ? -1 : 0;
}

/* Everything so far read-only for good, whatever lies below a bind included. */
static int seal(void)
{
	if (set_attributes("usr", AT_RECURSIVE, MOUNT_ATTR_NODEV) < 0)
		return -1;
	return set_attributes(".", AT_RECURSIVE, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID);
}

static int make_tmpfs(void)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	if (mount("assay", BASE, "tmpfs", MS_NOSUID | MS_NODEV,
		  "size=8m,nr_inodes=1024,mode=0755") < 0) /* ROOT_BYTES */
		return -1;
	return chdir(BASE);
}

static int enter(void)
{
	return syscall(SYS_pivot_root, ".", ".") < 0 ? -1 : chdir("/");
}

static bool is_covered(void)
{
	struct stat root, over;

	return stat("/", &root) < 0 || stat("/..", &over) < 0 || root.st_dev != over.st_dev ||
	       root.st_ino != over.st_ino;
}

/* It lies over the new root at the same place, where only ".." leads. */
static int detach_old(struct protocol_failure *failure)
{
	if (umount2("/..", MNT_DETACH) < 0 || is_covered())
		return failure_set(failure, "root: detach the old one", "");
	return 0;
}

struct step {
	int (*run)(void);
	const char *name;
};

/* proc comes after seal: init still writes its own oom_score_adj there. */
static const struct step steps[] = {
	{ make_tmpfs, "root: tmpfs" }, { add_system, "root: /usr" },
	{ add_etc, "root: /etc" },     { add_dev, "root: /dev" },
	{ add_home, "root: /home" },   { add_mount_points, "root: mount points" },
	{ seal, "root: read-only" },   { add_proc, "root: /proc" },
	{ enter, "root: pivot" },
};

int root_unshare(uint32_t *ret_namespaces, struct protocol_failure *failure)
{
	umask(022);
	if (drop_root(failure) < 0 || enter_user_namespace(failure) < 0)
		return -1;
	*ret_namespaces = PROTOCOL_NS_USER;
	return enter_namespaces(ret_namespaces, failure);
}

int root_enter(struct protocol_failure *failure)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].run() < 0)
			return refused(failure, steps[i].name);
	return detach_old(failure);
}

/* --- where there is one mount namespace --- */

static int make_single_tmpfs(void)
{
	return mount("assay", BASE, "tmpfs", MS_NOSUID | MS_NODEV, "size=8m,mode=0755") < 0 ?
		       -1 :
		       chdir(BASE);
}

static int enter_single(void)
{
	return chroot(".") < 0 ? -1 : chdir("/");
}

int root_enter_single(struct protocol_failure *failure)
{
	static const struct step single_steps[] = {
		{ make_single_tmpfs, "root: tmpfs" },
		{ add_system, "root: /usr" },
		{ add_etc, "root: /etc" },
		{ add_dev, "root: /dev" },
		{ add_home, "root: /home" },
		{ add_mount_points, "root: mount points" },
		{ enter_single, "root: enter" },
	};

	umask(022);
	for (size_t i = 0; i < sizeof(single_steps) / sizeof(single_steps[0]); i++)
		if (single_steps[i].run() < 0)
			return failure_set(failure, single_steps[i].name, "");
	return 0;
}

/* --- a machine's --- */

#define KVM "/dev/kvm"

int root_machine_spaces(bool kvm, struct protocol_failure *failure)
{
	static const int spaces[] = { CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,
				      CLONE_NEWNET, CLONE_NEWPID, CLONE_NEWCGROUP };
	struct stat st;

	if (kvm && stat(KVM, &st) == 0)
		kept_group = st.st_gid;
	if (drop_root(failure) < 0 || enter_user_namespace(failure) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (unshare(spaces[i]) < 0)
			return refused(failure, "namespaces of a machine");
	return 0;
}

static int add_machine_dev(void)
{
	static const char *const nodes[] = { "/dev/null", "/dev/zero", "/dev/urandom", KVM };

	if (mkdir("dev", 0755) < 0 || mkdir("proc", 0755) < 0 ||
	    symlink("/proc/self/fd", "dev/fd") < 0)
		return -1;
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		if (access(nodes[i], F_OK) == 0 &&
		    (write_new(nodes[i] + 1, "", 0) < 0 || bind_mount(nodes[i], nodes[i] + 1) < 0))
			return -1;
	return 0;
}

/* Of the new pid namespace; where none may be mounted, what is there has /proc/self, too. */
static int add_own_proc(void)
{
	return mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 ?
		       0 :
		       add_proc();
}

int root_machine(struct protocol_failure *failure)
{
	static const struct step machine_steps[] = {
		{ make_tmpfs, "root: tmpfs" },	   { add_system, "root: /usr" },
		{ add_machine_dev, "root: /dev" }, { seal, "root: read-only" },
		{ add_own_proc, "root: /proc" },   { enter, "root: pivot" },
	};

	for (size_t i = 0; i < sizeof(machine_steps) / sizeof(machine_steps[0]); i++)
		if (machine_steps[i].run() < 0)
			return refused(failure, machine_steps[i].name);
	return detach_old(failure);
}
