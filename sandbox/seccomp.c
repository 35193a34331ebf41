/*
 * The filter compiler: a program of the build, not of the product.
 *
 *	seccomp-compile x86_64|aarch64 > seccomp_filter.h
 *
 * It writes the finished filters as C arrays (binary tree, loaded raw with
 * seccomp(2)), their text form, and the names of the system calls, so that
 * nothing at run time needs libseccomp. Any host can compile for any of the
 * architectures.
 *
 * The policy is an allowlist. What is on it runs; clone3 gets ENOSYS, because
 * glibc then falls back to clone, whose flags a filter can see; everything else
 * goes to the keeper by user notification, which answers EPERM and writes down
 * name and arguments (ENOSYS for numbers newer than the names here). A call of
 * a foreign architecture (int 0x80) is notified too, and the keeper kills the
 * run.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define NAMES_MAX 1024
#define NAME_BYTES 32		/* as in protocol_forbidden */
#define LOW32 0xffffffffu

static const char *const allowed[] = {
	/* files */
	"read", "write", "open", "openat", "openat2", "close", "close_range", "creat", "stat",
	"fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs", "lseek", "pread64",
	"pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2", "access",
	"faccessat", "faccessat2", "dup", "dup2", "dup3", "flock", "fsync", "fdatasync",
	"sync_file_range", "truncate", "ftruncate", "fallocate", "fadvise64", "readahead",
	"getdents", "getdents64", "getcwd", "chdir", "fchdir", "rename", "renameat", "renameat2",
	"mkdir", "mkdirat", "rmdir", "link", "linkat", "unlink", "unlinkat", "symlink",
	"symlinkat", "readlink", "readlinkat", "chmod", "fchmod", "fchmodat", "chown", "fchown",
	"lchown", "fchownat", "umask", "utime", "utimes", "futimesat", "utimensat", "getxattr",
	"copy_file_range", "lgetxattr", "fgetxattr",
	"listxattr", "llistxattr", "flistxattr", "setxattr", "lsetxattr", "fsetxattr",
	"removexattr", "lremovexattr", "fremovexattr",
	/* waiting */
	"poll", "ppoll", "select", "pselect6", "epoll_create", "epoll_create1", "epoll_ctl",
	"epoll_wait", "epoll_pwait", "epoll_pwait2", "eventfd", "eventfd2", "signalfd",
	"signalfd4", "timerfd_create", "timerfd_settime", "timerfd_gettime", "pause",
	"nanosleep", "clock_nanosleep", "pipe", "pipe2",
	/* memory */
	"brk", "munmap", "mprotect", "mremap", "msync", "mincore", "madvise", "mlock",
	"mlock2", "munlock", "munlockall", "remap_file_pages", "pkey_alloc", "pkey_free",
	"pkey_mprotect", "membarrier", "get_mempolicy", "set_mempolicy", "mbind",
	/* processes and threads */
	"execve", "execveat", "exit", "exit_group", "wait4", "waitid", "getpid",
	"getppid", "gettid", "getpgid", "getpgrp", "getsid", "setpgid", "setsid", "getuid",
	"getgid", "geteuid", "getegid", "getresuid", "getresgid", "getgroups", "capget",
	"arch_prctl", "set_thread_area", "get_thread_area", "set_tid_address", "set_robust_list",
	"get_robust_list", "rseq", "futex", "futex_waitv", "restart_syscall", "pidfd_open",
	"pidfd_send_signal", "uname", "sysinfo", "times", "getrusage", "getrlimit", "setrlimit",
	"getpriority", "sched_yield", "sched_getparam", "sched_getscheduler",
	"sched_get_priority_max", "sched_get_priority_min", "sched_rr_get_interval",
	"sched_getattr", "sched_getaffinity", "getcpu", "ioprio_get", "getrandom",
	/* signals and time */
	"kill", "tkill", "tgkill", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn",
	"rt_sigpending", "rt_sigtimedwait", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
	"rt_sigsuspend", "sigaltstack", "alarm", "getitimer", "setitimer", "timer_create",
	"timer_settime", "timer_gettime", "timer_getoverrun", "timer_delete", "time",
	"gettimeofday", "clock_gettime", "clock_getres",
	/* sockets of the AF_UNIX family, which is all there is (socket is below) */
	"accept", "accept4", "bind", "listen", "sendto", "recvfrom", "sendmsg",
	"recvmsg", "sendmmsg", "recvmmsg", "shutdown", "getsockname", "getpeername",
	"getsockopt",
};

/* Only where control groups count: memory no process map shows (System V IPC,
 * in a namespace of the run; pages that a pipe or a socket holds after the file
 * or the program let go of them; rules of Landlock, by which one may restrict
 * oneself further), forks, and what makes a socket more (connect). The keeper
 * answers splice, tee and sendfile as a file that cannot does, and callers copy. */
static const char *const allowed_with_groups[] = {
	"shmget", "shmat", "shmdt", "shmctl", "semget", "semop", "semctl", "semtimedop",
	"msgget", "msgsnd", "msgrcv", "msgctl", "vmsplice", "splice",
	"tee", "sendfile", "fork", "vfork", "setsockopt", "connect",
	"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
};

/* clone3 hides its flags behind a pointer: ENOSYS sends glibc back to clone.
 * inotify would show what the host opens below the shared /usr. */
static const char *const absent[] = { "clone3", "inotify_init", "inotify_init1",
				      "inotify_add_watch", "inotify_rm_watch" };

struct argument {
	const char *name;
	unsigned arg;
	uint64_t mask, value;
	unsigned second;	/* another argument that must be this besides; 0: none */
	uint32_t second_value;
};

#define NEW_NAMESPACE \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	 CLONE_NEWPID | CLONE_NEWNET | 0x80u /* CLONE_NEWTIME */)

/* Allowed when the masked argument has the value. Masks of 32 bits are those
 * the kernel itself looks at: a set bit 32 changes nothing (CVE-2019-10063). */
static const struct argument conditional[] = {
	/* Not F_NOTIFY and F_SETLEASE, which would show or hold up what the host
	 * does below the shared /usr. Locks stay: databases need them, and which
	 * file a descriptor stands for a filter cannot see. To ask the keeper for
	 * each, so that it could count them, costs SQLite several times its time;
	 * and /proc/locks takes seconds to read where there are many. */
	{ "fcntl", 1, LOW32, F_DUPFD },
	{ "fcntl", 1, LOW32, F_GETFD },
	{ "fcntl", 1, LOW32, F_SETFD },
	{ "fcntl", 1, LOW32, F_GETFL },
	{ "fcntl", 1, LOW32, F_SETFL },
	{ "fcntl", 1, LOW32, F_DUPFD_CLOEXEC },
	{ "fcntl", 1, LOW32, 5 /* F_GETLK, of 64-bit programs */ },
	{ "fcntl", 1, LOW32, 6 /* F_SETLK */ },
	{ "fcntl", 1, LOW32, 7 /* F_SETLKW */ },
	{ "fcntl", 1, LOW32, F_OFD_GETLK },
	{ "fcntl", 1, LOW32, F_OFD_SETLK },
	{ "fcntl", 1, LOW32, F_OFD_SETLKW },
	{ "fcntl", 1, LOW32, F_SETOWN },
	{ "fcntl", 1, LOW32, F_GETOWN },
	{ "fcntl", 1, LOW32, F_SETSIG },
	{ "fcntl", 1, LOW32, F_GETSIG },
	{ "fcntl", 1, LOW32, F_SETOWN_EX },
	{ "fcntl", 1, LOW32, F_GETOWN_EX },
	{ "fcntl", 1, LOW32, F_GETLEASE },
	{ "fcntl", 1, LOW32, 1027 /* F_DUPFD_QUERY */ },
	{ "fcntl", 1, LOW32, F_SETPIPE_SZ },
	{ "fcntl", 1, LOW32, F_GETPIPE_SZ },
	{ "fcntl", 1, LOW32, F_ADD_SEALS },
	{ "fcntl", 1, LOW32, F_GET_SEALS },
	/* oneself only: init has the same uid, and a guest that could slow it down
	 * or limit it would decide how its own run ends */
	{ "prlimit64", 0, LOW32, 0 },
	{ "sched_setaffinity", 0, LOW32, 0 },
	{ "sched_setattr", 0, LOW32, 0 },
	{ "sched_setparam", 0, LOW32, 0 },
	{ "sched_setscheduler", 0, LOW32, 0 },
	{ "setpriority", 0, LOW32, 0 /* PRIO_PROCESS */, 1 },
	{ "personality", 0, LOW32, LOW32 },	/* the query */
	{ "mknod", 1, S_IFMT, S_IFIFO },
	{ "mknod", 1, S_IFMT, S_IFREG },
	{ "mknod", 1, S_IFMT, S_IFSOCK },
	{ "mknodat", 2, S_IFMT, S_IFIFO },
	{ "mknodat", 2, S_IFMT, S_IFREG },
	{ "mknodat", 2, S_IFMT, S_IFSOCK },
	/* terminals: look, never type (TIOCSTI, TIOCLINUX are not here) */
	{ "ioctl", 1, LOW32, 0x5401 /* TCGETS */ },
	{ "ioctl", 1, LOW32, 0x5402 /* TCSETS */ },
	{ "ioctl", 1, LOW32, 0x5403 /* TCSETSW */ },
	{ "ioctl", 1, LOW32, 0x5404 /* TCSETSF */ },
	{ "ioctl", 1, LOW32, 0x540f /* TIOCGPGRP */ },
	{ "ioctl", 1, LOW32, 0x5410 /* TIOCSPGRP */ },
	{ "ioctl", 1, LOW32, 0x5413 /* TIOCGWINSZ */ },
	{ "ioctl", 1, LOW32, 0x541b /* FIONREAD */ },
	{ "ioctl", 1, LOW32, 0x5421 /* FIONBIO */ },
	{ "ioctl", 1, LOW32, 0x5450 /* FIONCLEX */ },
	{ "ioctl", 1, LOW32, 0x5451 /* FIOCLEX */ },
	{ "ioctl", 1, LOW32, 0x5452 /* FIOASYNC */ },
	{ "ioctl", 1, LOW32, 0x40049409 /* FICLONE, which cp tries */ },
	{ "ioctl", 1, LOW32, 0x80086601 /* FS_IOC_GETFLAGS */ },
	{ "prctl", 0, LOW32, 1 /* PR_SET_PDEATHSIG */ },
	{ "prctl", 0, LOW32, 2 /* PR_GET_PDEATHSIG */ },
	{ "prctl", 0, LOW32, 3 /* PR_GET_DUMPABLE */ },
	{ "prctl", 0, LOW32, 4 /* PR_SET_DUMPABLE */ },
	{ "prctl", 0, LOW32, 7 /* PR_GET_KEEPCAPS */ },
	{ "prctl", 0, LOW32, 15 /* PR_SET_NAME */ },
	{ "prctl", 0, LOW32, 16 /* PR_GET_NAME */ },
	{ "prctl", 0, LOW32, 21 /* PR_GET_SECCOMP */ },
	{ "prctl", 0, LOW32, 23 /* PR_CAPBSET_READ */ },
	{ "prctl", 0, LOW32, 27 /* PR_GET_SECUREBITS */ },
	{ "prctl", 0, LOW32, 29 /* PR_SET_TIMERSLACK */ },
	{ "prctl", 0, LOW32, 30 /* PR_GET_TIMERSLACK */ },
	{ "prctl", 0, LOW32, 36 /* PR_SET_CHILD_SUBREAPER */ },
	{ "prctl", 0, LOW32, 37 /* PR_GET_CHILD_SUBREAPER */ },
	{ "prctl", 0, LOW32, 38 /* PR_SET_NO_NEW_PRIVS */ },
	{ "prctl", 0, LOW32, 39 /* PR_GET_NO_NEW_PRIVS */ },
	{ "prctl", 0, LOW32, 40 /* PR_GET_TID_ADDRESS */ },
	{ "prctl", 0, LOW32, 42 /* PR_GET_THP_DISABLE */ },
	{ "prctl", 0, LOW32, 0x53564d41 /* PR_SET_VMA: names of mappings */ },
};

/* Huge pages are the host's, and no memory group counts them. */
static const struct argument conditional_with_groups[] = {
	{ "clone", 0, NEW_NAMESPACE, 0 },
	{ "socket", 0, LOW32, AF_UNIX },
	{ "socketpair", 0, LOW32, AF_UNIX },
	{ "mmap", 3, MAP_HUGETLB, 0 },
	{ "memfd_create", 1, MFD_HUGETLB, 0 },
};

/* Without a group a fork, a socket, and a mapping both shared and anonymous, is
 * the keeper's to allow, and no socket may be given a larger queue (SO_SNDBUF). */
static const struct argument conditional_supervised[] = {
	{ "mmap", 3, MAP_HUGETLB | MAP_SHARED, 0 },
	{ "mmap", 3, MAP_HUGETLB | MAP_ANONYMOUS, 0 },
	{ "setsockopt", 2, LOW32, SO_REUSEADDR, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_BROADCAST, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_RCVBUF, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_KEEPALIVE, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_LINGER, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_REUSEPORT, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_PASSCRED, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_RCVLOWAT, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_RCVTIMEO, 1, SOL_SOCKET },
	{ "setsockopt", 2, LOW32, SO_SNDTIMEO, 1, SOL_SOCKET },
};

static void fail(int status, const char *what)
{
	fprintf(stderr, "seccomp-compile: %s: %s\n", what, strerror(-status));
	exit(1);
}

/*
 * What seccomp_rule_add wants: the number this host has for the name (possibly
 * a negative stand-in), which it translates for the filter's architecture.
 * False when that architecture has no such call.
 */
static int resolve(uint32_t arch, const char *name, int *ret_number)
{
	int there = seccomp_syscall_resolve_name_arch(arch, name);

	if (there == __NR_SCMP_ERROR)
		fail(-EINVAL, name);
	if (there < 0)
		return 0;
	*ret_number = seccomp_syscall_resolve_name(name);
	return 1;
}

static void allow(scmp_filter_ctx ctx, uint32_t arch, const char *name)
{
	int number, status;

	if (!resolve(arch, name, &number))
		return;
	status = seccomp_rule_add_exact(ctx, SCMP_ACT_ALLOW, number, 0);
	if (status < 0)
		fail(status, name);
}

static void allow_when(scmp_filter_ctx ctx, uint32_t arch, const struct argument *a)
{
	struct scmp_arg_cmp when[2] = {
		{ .arg = a->arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = a->mask,
		  .datum_b = a->value },
		{ .arg = a->second, .op = SCMP_CMP_MASKED_EQ, .datum_a = LOW32,
		  .datum_b = a->second_value },
	};
	int number, status;

	if (!resolve(arch, a->name, &number))
		return;
	status = seccomp_rule_add_exact_array(ctx, SCMP_ACT_ALLOW, number, a->second ? 2 : 1, when);
	if (status < 0)
		fail(status, a->name);
}

static void refuse_as_absent(scmp_filter_ctx ctx, uint32_t arch)
{
	for (size_t i = 0; i < COUNT(absent); i++) {
		int number, status;

		if (!resolve(arch, absent[i], &number))
			continue;
		status = seccomp_rule_add_exact(ctx, SCMP_ACT_ERRNO(ENOSYS), number, 0);
		if (status < 0)
			fail(status, absent[i]);
	}
}

static void allow_rows(scmp_filter_ctx ctx, uint32_t arch, const struct argument *rows,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		allow_when(ctx, arch, &rows[i]);
}

static scmp_filter_ctx build(uint32_t arch, int with_groups)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_NOTIFY);
	int status;

	if (ctx == NULL)
		fail(-ENOMEM, "seccomp_init");
	status = seccomp_arch_add(ctx, arch);
	if (status < 0 && status != -EEXIST)
		fail(status, "seccomp_arch_add");
	if (arch != seccomp_arch_native())
		status = seccomp_arch_remove(ctx, seccomp_arch_native());
	if (status < 0 && status != -EEXIST)
		fail(status, "seccomp_arch_remove");
	status = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_NOTIFY);
	if (status < 0)
		fail(status, "bad architecture action");
	status = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (status < 0)
		fail(status, "binary tree");
	for (size_t i = 0; i < COUNT(allowed); i++)
		allow(ctx, arch, allowed[i]);
	for (size_t i = 0; with_groups && i < COUNT(allowed_with_groups); i++)
		allow(ctx, arch, allowed_with_groups[i]);
	allow_rows(ctx, arch, conditional, COUNT(conditional));
	if (with_groups)
		allow_rows(ctx, arch, conditional_with_groups, COUNT(conditional_with_groups));
	else
		allow_rows(ctx, arch, conditional_supervised, COUNT(conditional_supervised));
	refuse_as_absent(ctx, arch);
	return ctx;
}

/* What export wrote to a memory file, whole. */
static unsigned char *exported(int (*export)(const scmp_filter_ctx, int), scmp_filter_ctx ctx,
			       size_t *ret_len)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	unsigned char *bytes;
	off_t len;

	if (fd < 0 || export(ctx, fd) < 0)
		fail(-errno, "export");
	len = lseek(fd, 0, SEEK_END);
	bytes = malloc((size_t)len + 1);
	if (bytes == NULL || pread(fd, bytes, (size_t)len, 0) != len)
		fail(-EIO, "read back");
	close(fd);
	*ret_len = (size_t)len;
	return bytes;
}

static void print_program(const char *name, scmp_filter_ctx ctx)
{
	struct { uint16_t code; uint8_t jt, jf; uint32_t k; } insn;
	size_t len;
	unsigned char *bytes = exported(seccomp_export_bpf, ctx, &len);

	printf("static const struct sock_filter seccomp_%s[] = {\n", name);
	for (size_t at = 0; at + sizeof(insn) <= len; at += sizeof(insn)) {
		memcpy(&insn, bytes + at, sizeof(insn));
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", insn.code, insn.jt, insn.jf, insn.k);
	}
	printf("};\n\n");
	free(bytes);
}

/* As numbers: ISO C promises string literals of 4095 bytes only. */
static void print_text(const char *name, scmp_filter_ctx ctx)
{
	static const char head[] =
		"# action 0x7fc00000: notify the keeper, which names the call and refuses it\n";
	size_t len;
	unsigned char *bytes = exported(seccomp_export_pfc, ctx, &len);

	printf("static const char seccomp_%s_text[] = {", name);
	for (size_t i = 0; i < sizeof(head) - 1; i++)
		printf("%s%d,", i % 24 == 0 ? "\n\t" : " ", head[i]);
	for (size_t i = 0; i < len; i++)
		printf("%s%d,", i % 24 == 0 ? "\n\t" : " ", bytes[i]);
	printf("\n\t0 };\n\n");
	free(bytes);
}

static void print_names(const char *table, uint32_t arch)
{
	/* Bytes, not pointers: nothing to relocate when the keeper starts. */
	printf("static const char seccomp_%s[][%d] = {\n", table, NAME_BYTES);
	for (int number = 0; number < NAMES_MAX; number++) {
		char *name = seccomp_syscall_resolve_num_arch(arch, number);

		if (name != NULL && strlen(name) < NAME_BYTES)
			printf("\t[%d] = \"%s\",\n", number, name);
		free(name);
	}
	printf("};\n\n");
}

int main(int argc, char **argv)
{
	int arm = argc > 1 && strcmp(argv[1], "aarch64") == 0;
	uint32_t arch = arm ? SCMP_ARCH_AARCH64 : SCMP_ARCH_X86_64;
	uint32_t foreign = arm ? SCMP_ARCH_ARM : SCMP_ARCH_X86;
	scmp_filter_ctx standard, supervised;

	if (argc != 2 || (!arm && strcmp(argv[1], "x86_64") != 0)) {
		fprintf(stderr, "usage: seccomp-compile x86_64|aarch64\n");
		return 2;
	}
	/* Exporting notifications must not depend on the kernel of the build host. */
	seccomp_api_set(6);
	standard = build(arch, 1);
	supervised = build(arch, 0);
	printf("/* Made by sandbox/seccomp.c for %s. */\n", argv[1]);
	printf("#define SECCOMP_ARCH_NAME \"%s\"\n", argv[1]);
	printf("#define SECCOMP_ARCH_NATIVE 0x%xu\n", arch);
	printf("#define SECCOMP_FOREIGN_NAME \"%s\"\n", arm ? "arm" : "i386");
	printf("#define SECCOMP_ARCH_FOREIGN 0x%xu\n\n", foreign);
	printf("#ifdef SECCOMP_WANT_PROGRAMS\n");
	print_program("standard", standard);
	print_program("supervised", supervised);
	printf("#endif\n#ifdef SECCOMP_WANT_TEXT\n");
	print_text("standard", standard);
	print_text("supervised", supervised);
	printf("#endif\n#ifdef SECCOMP_WANT_NAMES\n");
	print_names("names", arch);
	print_names("foreign_names", foreign);
	printf("#endif\n");
	seccomp_release(standard);
	seccomp_release(supervised);
	return fflush(stdout) == 0 ? 0 : 1;
}
