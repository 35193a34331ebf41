/*
 * Two processes that live in the template's memory, on its stack, for some microseconds, and the
 * fork that stays: see preload.c for who is who. Until they are gone the template does not run.
 * They may do nothing but what is here.
 */
#include "sandbox/native/warm/warm.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The parent's pid in the run's namespace, so that the next one, which a guest has, is free. It is
 * below the least that a kernel's pid_max can be. */
#define PARENT_PID 300

/* What they say to the template, in the memory they share. */
struct attempt {
	int init;
	uint32_t namespaces;
	const char *step; /* that failed; NULL: none */
	int errnum;
};

static struct attempt attempt;

/*
 * clone3 as vfork: in our memory and on our stack, and we wait till it is gone. It must not be a
 * function of libc, from which the child would return before us over the same stack; what the
 * caller does with 0 must be a call, and nothing after that may be kept on the stack.
 */
static inline __attribute__((always_inline)) long clone_over(const struct clone_args *args)
{
#if defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(SYS_clone3), "D"(args), "S"(sizeof(*args))
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long result __asm__("x0") = (long)args;
	register long size __asm__("x1") = sizeof(*args);
	register long number __asm__("x8") = SYS_clone3;

	__asm__ volatile("svc 0" : "+r"(result) : "r"(size), "r"(number) : "memory");
	return result;
#else
	(void)args;
	return -ENOSYS;
#endif
}

static void give_up(const char *step) __attribute__((noreturn));
static void give_up(const char *step)
{
	attempt.step = step;
	attempt.errnum = errno;
	_exit(1);
}

/* In the run's pid namespace. Returns in the new interpreter only. */
static void __attribute__((noinline)) be_parent(void)
{
	pid_t pid = fork();

	if (pid == 0)
		return;
	if (pid < 0)
		give_up("fork the interpreter");
	if (pid != 2) /* a guest's, when it is started cold */
		give_up("pid of the interpreter");
	_exit(0);
}

/* In the run's other namespaces. Returns in the new interpreter only. */
static void __attribute__((noinline)) be_entrant(void)
{
	static const pid_t pids[] = { PARENT_PID };
	static struct clone_args args;

	if (syscall(SYS_setns, attempt.init, attempt.namespaces) < 0)
		give_up("enter the namespaces");
	args = (struct clone_args){ .flags = CLONE_VM | CLONE_VFORK,
				    .exit_signal = SIGCHLD,
				    .set_tid = (uintptr_t)pids,
				    .set_tid_size = 1 };
	long pid = clone_over(&args);
	if (pid == 0) {
		be_parent();
		return;
	}
	if (pid < 0) {
		errno = (int)-pid;
		give_up("a parent in the namespaces");
	}
	_exit(waitpid((pid_t)pid, NULL, 0) < 0);
}

static long __attribute__((noinline)) enter(void)
{
	static struct clone_args args;

	args = (struct clone_args){ .flags = CLONE_VM | CLONE_VFORK, .exit_signal = SIGCHLD };
	long pid = clone_over(&args);
	if (pid == 0)
		be_entrant();
	return pid;
}

int spawn(int init, uint32_t namespaces, struct protocol_failure *failure)
{
	attempt = (struct attempt){ .init = init, .namespaces = namespaces };
	long pid = enter();
	if (pid == 0)
		return 0;
	if (pid < 0) {
		errno = (int)-pid;
		return failure_set(failure, "share the template", "");
	}
	while (waitpid((pid_t)pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (!attempt.step)
		return 1;
	errno = attempt.errnum;
	return failure_set(failure, attempt.step, "");
}
