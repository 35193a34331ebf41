/*
 * assay-hold.so: makes an interpreter's state one that can be copied. Theory of operation:
 * README.md. It lies in the guest's memory, so that the cell could have changed it: it is trusted
 * with nothing.
 */
#include "sandbox/native/hold/hold.h"

#include "sandbox/sandbox.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CONTROL_FD  200 /* above those that programs count on */
#define SCOPE_ABI   6
#define SCOPE_ALL   3ull
#define LAYERS_LEFT 14 /* of Landlock's 16, that a program has some of its own */

static int control = -1, landlock_abi;
static unsigned generation; /* copies of copies */

/* Its value, and it is gone. A shell has functions of its own in place of libc's for this. */
static const char *take_variable(const char *name)
{
	size_t len = strlen(name);
	const char *value = NULL;
	char **to = environ;

	for (char **from = environ; from && *from; from++) {
		if (!strncmp(*from, name, len))
			value = *from + len;
		else
			*to++ = *from;
	}
	if (to)
		*to = NULL;
	return value;
}

__attribute__((constructor)) static void find_out(void)
{
	const char *self = take_variable("LD_PRELOAD="), *abi = take_variable(HOLD_VARIABLE "=");

	if (!self || !abi)
		return;
	landlock_abi = atoi(abi);
	unlink(self);
	control = fcntl(HOLD_FD, F_DUPFD_CLOEXEC, CONTROL_FD);
	if (control < 0)
		control = fcntl(HOLD_FD, F_DUPFD_CLOEXEC, HOLD_FD + 2);
	close(HOLD_FD);
	close(HOLD_FD + 1);
}

/* --- the copy --- */

/* As fork, but a child of init, with nothing that libraries do after a fork: for them it is
 * the same process, as it is for the program. */
static long copy(void)
{
	unsigned long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
	int *tid = NULL;

	if (prctl(PR_GET_TID_ADDRESS, &tid, 0, 0, 0) < 0 || !tid)
		flags = CLONE_PARENT | SIGCHLD;
#if defined(__x86_64__)
	return syscall(SYS_clone, flags, NULL, NULL, tid, 0ul);
#else
	return syscall(SYS_clone, flags, NULL, NULL, 0ul, tid);
#endif
}

/* No signal and no look from here into what it is a copy of. Not needed for the state to be safe,
 * only that it lives; so where there are no more layers, it goes without. */
static void restrict_scope(void)
{
	struct {
		uint64_t fs, net, scoped;
	} attr = { .scoped = SCOPE_ALL };

	if (landlock_abi < SCOPE_ABI || generation > LAYERS_LEFT)
		return;
	int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (ruleset < 0)
		return;
	syscall(SYS_landlock_restrict_self, ruleset, 0);
	close(ruleset);
}

static void be_copy(int *fds, const sigset_t *mask)
{
	struct event born = { .kind = EVENT_BORN };
	int old = control;

	generation++;
	for (int n = 0; n < 3; n++)
		if (dup2(fds[HOLD_STDIN + n], n) < 0)
			_exit(1);
	close_all(fds + HOLD_STDIN, 3);
	control = dup3(fds[HOLD_NEXT], old, O_CLOEXEC);
	close(fds[HOLD_NEXT]);
	if (control < 0 || setsid() < 0 || check_separate(control) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		_exit(1);
	restrict_scope();
	if (message_send(control, &born, sizeof(born), NULL, 0) < 0)
		_exit(1);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* --- the holder --- */

static int let_go_of_streams(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int status = null < 0 ? -1 : 0;

	for (int n = 0; status == 0 && n < 3; n++)
		status = dup2(null, n) < 0 ? -1 : 0;
	close_all(&null, 1);
	return status;
}

/* Returns in copies only: the descriptor of what they are to run. */
static int serve(const sigset_t *mask)
{
	struct event forked = { .kind = EVENT_READY };

	for (;;) {
		struct hold_order order;
		int fds[HOLD_FDS];

		if (message_receive(control, &order, sizeof(order), fds, HOLD_FDS) != sizeof(order))
			_exit(0);
		forked.pid = (int32_t)copy();
		if (forked.pid == 0) {
			be_copy(fds, mask);
			return fds[HOLD_TEXT];
		}
		close_all(fds, HOLD_FDS);
		message_send(control, &forked, sizeof(forked), NULL, 0);
	}
}

static int hold(void)
{
	struct event event = { .kind = EVENT_HELD };
	const char *why = control < 0 ? HOLD_CHANNEL : check_copy(control);

	if (why) {
		event.kind = EVENT_FAILED;
		failure_set(&event.failure, why, "");
		message_send(control, &event, sizeof(event), NULL, 0);
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	fflush(NULL);
	sigset_t all;
	sigfillset(&all);
	sigset_t mask;
	sigprocmask(SIG_BLOCK, &all, &mask);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || let_go_of_streams() < 0 ||
	    message_send(control, &event, sizeof(event), NULL, 0) < 0)
		_exit(1);
	return serve(&mask);
}

/* --- the calls by which a harness comes here --- */

typedef int opener(const char *path, int flags, ...);

static int open_next(opener **next, const char *symbol, const char *path, int flags, mode_t mode)
{
	if (path && !strcmp(path, SANDBOX_HOLD))
		return hold();
	if (!*next) {
		void *address = dlsym(RTLD_NEXT, symbol);
		memcpy(next, &address, sizeof(*next));
	}
	return (*next)(path, flags, mode);
}

#define MODE_OF(flags)                                     \
	va_list list;                                      \
	mode_t mode = 0;                                   \
	va_start(list, flags);                             \
	if ((flags) & (O_CREAT | __O_TMPFILE))             \
		mode = (mode_t)va_arg(list, unsigned int); \
	va_end(list)

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
	static opener *next;

	MODE_OF(flags);
	return open_next(&next, "open", path, flags, mode);
}

__attribute__((visibility("default"))) int open64(const char *path, int flags, ...)
{
	static opener *next;

	MODE_OF(flags);
	return open_next(&next, "open64", path, flags, mode);
}
