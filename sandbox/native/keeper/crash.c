/*
 * What the host does when a guest crashes: /proc/sys/kernel/core_pattern, which
 * no namespace changes. A pattern that is a pipe starts the host's handler, as the
 * host's root and outside of everything, unless the limit on core files is 1
 * (coredump_pipe() in the kernel's fs/coredump.c): the limit of every guest, which
 * its filter keeps. Where it cannot be had, and where the pattern is a socket, for
 * which the kernel looks at no limit (6.16 and later), nothing is run.
 *
 * A guest that sets the limit gets the answer it would get elsewhere, and nothing is
 * set: whoever wants no core is told it is done, for there is none at 1 either. What
 * it asked for is read out of its memory, which only decides what it is told.
 */
#include "sandbox/native/keeper/crash.h"

#include "sandbox/native/keeper/supervise.h"
#include "sandbox/native/keeper/util.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define PATTERN "/proc/sys/kernel/core_pattern"

/* As root a hard limit of 0 that we inherit is lifted. */
static bool can_limit(void)
{
	struct rlimit now;

	if (getrlimit(RLIMIT_CORE, &now) < 0)
		return false;
	if (now.rlim_max >= CORE_NONE)
		return true;
	now.rlim_max = CORE_NONE;
	return setrlimit(RLIMIT_CORE, &now) == 0;
}

void crash_open(struct crash *c)
{
	c->pattern = open(PATTERN, O_RDONLY | O_CLOEXEC);
	c->limited = can_limit();
}

int crash_check(const struct crash *c, struct protocol_failure *failure)
{
	char first = 0;

	if (c->pattern < 0 || pread(c->pattern, &first, 1, 0) != 1)
		return 0; /* a kernel that dumps nothing, or no /proc, which is told */
	errno = 0;
	if (first == '@')
		return failure_set(
			failure, "a crash would reach a service of this host",
			"kernel.core_pattern is a socket, which no limit of a process closes: "
			"`sysctl -w kernel.core_pattern=core`, or a pattern that is a pipe");
	if (first == '|' && !c->limited)
		return failure_set(
			failure, "a crash would start a program of this host",
			"kernel.core_pattern is a pipe, which only a limit on core files of 1 "
			"closes, and the hard limit inherited here is 0: raise it (`core` in "
			"/etc/security/limits.conf, LimitCORE= of a systemd unit, `--ulimit "
			"core=1` "
			"of a container), or `sysctl -w kernel.core_pattern=core`");
	return 0;
}

struct wanted {
	pid_t thread;
	uint64_t address; /* of the struct rlimit, in its memory */
};

/* May wait for the guest: made aside. */
static int64_t answer(int proc, const void *what)
{
	const struct wanted *wanted = what;
	struct rlimit64 limit;
	struct iovec here = { &limit, sizeof(limit) }, there = { .iov_len = sizeof(limit) };

	(void)proc;
	__builtin_memcpy(&there.iov_base, &wanted->address, sizeof(there.iov_base));
	if (process_vm_readv(wanted->thread, &here, 1, &there, 1, 0) != sizeof(limit))
		return errno == EFAULT ? EFAULT : EPERM;
	return limit.rlim_cur > limit.rlim_max ? EINVAL : limit.rlim_max > CORE_NONE ? EPERM : 0;
}

int crash_answer_limit(int proc, pid_t thread, uint64_t address)
{
	const struct wanted wanted = { .thread = thread, .address = address };
	int64_t error = aside_count(proc, answer, &wanted);

	return error < 0 || error == ASIDE_LATE ? EPERM : (int)error;
}
