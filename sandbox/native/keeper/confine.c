/*
 * What a process gives up for good: capabilities, files, calls, limits. Each step fails closed;
 * in which order they are taken is guest.c's and init.c's, and none may be left out.
 */
#include "sandbox/native/keeper/confine.h"

#include "sandbox/native/keeper/crash.h"
#include "sandbox/native/keeper/orders.h"
#include "sandbox/native/keeper/util.h"

#include <linux/filter.h>

#define SECCOMP_WANT_PROGRAMS
#include "sandbox/native/seccomp_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- capabilities --- */

#define SECURE_ALL                                                                               \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |                         \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | \
	 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* By what a process keeps over exec; nothing else gives a capability after the lock. */
static int keep_over_exec(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[2];

	if (syscall(SYS_capget, &header, has) < 0)
		return -1;
	for (size_t n = 0; n < 2; n++)
		has[n].inheritable = has[n].permitted;
	if (syscall(SYS_capset, &header, has) < 0)
		return -1;
	for (int cap = 0; cap <= 63; cap++)
		if ((has[cap / 32].permitted & (1u << cap % 32)) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
			return -1;
	return 0;
}

int confine_fix_privileges(bool keep)
{
	if (keep && keep_over_exec() < 0)
		return -1;
	for (int cap = 0; cap <= 63; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0) {
			if (errno != EINVAL || cap == 0)
				return -1;
			break; /* past the last one this kernel has */
		}
	if ((!keep && prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) ||
	    prctl(PR_SET_SECUREBITS, SECURE_ALL, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int confine_drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	return (int)syscall(SYS_capset, &header, none);
}

bool confine_is_fixed(void)
{
	for (int cap = 0; cap <= 63; cap++)
		if (prctl(PR_CAPBSET_READ, cap, 0, 0, 0) == 1)
			return false;
	return prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) == SECURE_ALL &&
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* --- Landlock --- */

/* Newer than the headers of the oldest build host; from the kernel's ABI. */
#define FS_REFER     (1ull << 13) /* ABI 2 */
#define FS_TRUNCATE  (1ull << 14) /* ABI 3 */
#define FS_IOCTL_DEV (1ull << 15) /* ABI 5 */
#define FS_ABI_1     ((1ull << 13) - 1)
#define NET_TCP	     3ull /* bind and connect, ABI 4 */
#define SCOPE_ALL    3ull /* abstract sockets and signals, ABI 6 */

struct ruleset {
	uint64_t fs, net, scoped;
};

#define FS_READ \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

int confine_landlock_abi(void)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	return abi < 0 ? 0 : (int)abi;
}

static uint64_t handled_fs(int abi)
{
	return FS_ABI_1 | (abi >= 2 ? FS_REFER : 0) | (abi >= 3 ? FS_TRUNCATE : 0) |
	       (abi >= 5 ? FS_IOCTL_DEV : 0);
}

static int allow_below(int ruleset, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = access };

	rule.parent_fd = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (rule.parent_fd < 0)
		return -1;
	long status = syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
	close(rule.parent_fd);
	return (int)status;
}

static int add_rules(int ruleset, int abi)
{
	/* Not /dev/zero: mapped shared it is memory that belongs to nobody. */
	static const char *const devices[] = { "/dev/null", "/dev/full" };
	static const char *const writable[] = { "/tmp", "/work", "/out", "/dev/shm" };
	uint64_t all = handled_fs(abi) & ~FS_IOCTL_DEV;

	if (allow_below(ruleset, "/", FS_READ) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++)
		if (allow_below(ruleset, devices[i],
				LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
					(abi >= 3 ? FS_TRUNCATE : 0)) < 0)
			return -1;
	for (size_t i = 0; i < sizeof(writable) / sizeof(writable[0]); i++)
		if (allow_below(ruleset, writable[i], all) < 0)
			return -1;
	return 0;
}

int confine_landlock(int abi)
{
	struct ruleset attr = { .fs = handled_fs(abi),
				.net = abi >= 4 ? NET_TCP : 0,
				.scoped = abi >= 6 ? SCOPE_ALL : 0 };
	/* An older kernel takes a shorter structure. */
	size_t size = abi >= 6 ? sizeof(attr) :
		      abi >= 4 ? offsetof(struct ruleset, scoped) :
				 offsetof(struct ruleset, net);
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	int status = ruleset < 0 ? -1 : add_rules(ruleset, abi);

	if (status == 0)
		status = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
	if (ruleset >= 0)
		close(ruleset);
	return status;
}

/* --- rlimits --- */

static int limit(int resource, rlim_t value)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
		return -1;
	if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
		value = now.rlim_max; /* what our parent lacks we cannot give */
	return setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ value, value });
}

/* What a process has already, as RLIMIT_DATA counts it: of a fork what its template had (proc(5),
 * statm, the sixth). */
static rlim_t data_so_far(void)
{
	char text[128], *at = text;
	rlim_t pages = 0;

	if (file_read(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) < 0)
		return 0;
	for (int i = 0; i < 6; i++)
		pages = strtoul(at, &at, 10);
	return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/*
 * Limits of one process, beneath those of the tree. RLIMIT_AS is not among
 * them, because node and other JITs reserve far more than they use; nor is
 * RLIMIT_FSIZE, because the tmpfs has a size and a memfd counts as memory.
 */
int confine_job_rlimits(const struct launch *launch)
{
	const struct protocol_limits *l = &launch->limits;
	/* The keeper, launcher and init count too. Where pids are counted by a group,
	 * that group shall be what is hit; where the keeper grants forks, this is what
	 * many at once cannot pass. Its child that counts (aside.c) is one more for some
	 * milliseconds, in which the last fork may be refused. */
	int64_t processes = l->processes + (launch->pids_cgroup ? 32 : 3 + launch->ours);
	int64_t cpu_s = l->cpu_ms / 1000 + 2;

	/* Twice, so that the keeper sees the tree reach its own before a process is refused more.
	 */
	if (launch->limit_data &&
	    limit(RLIMIT_DATA, (rlim_t)l->memory_bytes * 2 + data_so_far()) < 0)
		return -1;
	if (limit(RLIMIT_NPROC, (rlim_t)processes) < 0)
		return -1;
	/* Copies of one that holds a state have it, and limits of their own: theirs are held by the
	 * group that counts CPU time, without which nothing is held. */
	return launch->holds ? 0 : limit(RLIMIT_CPU, (rlim_t)cpu_s);
}

/* The filter asks the keeper about RLIMIT_CORE: these come before it. gVisor's kernel has none of
 * what the later ones limit, and lets nobody set them. */
int confine_fixed_rlimits(uint32_t filter)
{
	static const struct {
		int resource;
		rlim_t value;
	} rows[] = {
		{ RLIMIT_CORE, CORE_NONE },  { RLIMIT_STACK, 8 << 20 },
		{ RLIMIT_SIGPENDING, 4096 }, { RLIMIT_MEMLOCK, 64 << 10 },
		{ RLIMIT_MSGQUEUE, 0 },	     { RLIMIT_NICE, 0 },
		{ RLIMIT_RTPRIO, 0 },
	};
	const size_t plain = 2;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (limit(rows[i].resource, rows[i].value) < 0 &&
		    (filter != PROTOCOL_FILTER_PLAIN || i < plain || errno != EPERM))
			return -1;
	return 0;
}

/*
 * After the last descriptor was sent: the kernel counts those on their way for all
 * of a user's processes and compares them with this limit of the one that sends.
 * So what a guest has on its way up to its own limit is no matter to us, who have
 * the highest there is.
 */
int confine_open_files(const struct launch *launch)
{
	return limit(RLIMIT_NOFILE, (rlim_t)launch->limits.open_files);
}

/* --- system calls --- */

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

static int load(const struct sock_filter *filter, size_t count)
{
	struct sock_fprog program = { .len = (unsigned short)count };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_SPEC_ALLOW;

	__builtin_memcpy(&program.filter, &filter, sizeof(filter));
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			  flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);
	if (fd < 0 && errno == EINVAL) /* before 5.19 */
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return (int)fd;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

int confine_seccomp_plain(void)
{
	struct sock_fprog program = { .len = COUNT(seccomp_plain) };
	const struct sock_filter *filter = seccomp_plain;

	__builtin_memcpy(&program.filter, &filter, sizeof(filter));
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int confine_seccomp(uint32_t filter)
{
	if (filter == PROTOCOL_FILTER_SUPERVISED)
		return load(seccomp_supervised, COUNT(seccomp_supervised));
	return load(seccomp_standard, COUNT(seccomp_standard));
}
