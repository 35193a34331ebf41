/*
 * assay-warm.so: makes an interpreter that has started, and waits where it would open its script.
 *
 * Theory of operation
 *
 *   template   `python3 FLAGS /work/main.py`, started by the launcher with this object preloaded
 * and the environment that a run has. It has the capabilities of the keeper's user namespace, for
 * it enters those of a run, and never sees a byte of a guest's. Python starts as ever and calls
 * fopen for its script; that call is here, and the template stays in it: it imports what programs
 * commonly do, checks itself (check.c) and serves orders (template.c). Each order names an init
 * that waits. entrant    shares the template's memory (vfork), enters the init's namespaces, and
 * makes parent     the same in them, for who makes a child there must be there. It forks waiting
 * and ends, so that its child is init's. That one gives up all capabilities, raises the walls of
 * every guest (keeper/walls.c), says so with the filter's listener, and waits for one message:
 * limits and descriptors. Then it closes what is ours and returns from fopen with the script. From
 * there on this is a Python that was started cold: no frame, argument, path or module of ours is in
 * it.
 *
 * What crosses from a template to a run: the modules, the layout of the address space, and the
 * pages that neither has written to. None of it is ever written by a run: a fork's memory is its
 * own.
 *
 * This file may only find out that it is in a template, hide itself, and hand the call over.
 */
#include "sandbox/native/warm/warm.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Above those that Python has while it starts, below the size of the smallest table of them. */
#define ORDERS_FD 48

static struct warm_start start;

/* As those of a run that was given no stdin: Python keeps what kind they are. */
static int take_descriptors(void)
{
	int null, out[2];

	if (dup3(WARM_ORDERS_FD, ORDERS_FD, O_CLOEXEC) < 0)
		return -1;
	if (syscall(SYS_close_range, 0u, ORDERS_FD - 1u, 0u) < 0 ||
	    syscall(SYS_close_range, ORDERS_FD + 1u, ~0u, 0u) < 0)
		return -1;
	null = open("/dev/null", O_RDONLY);
	if (null != STDIN_FILENO || pipe2(out, O_NONBLOCK) < 0)
		return -1;
	start.printed = fcntl(out[0], F_DUPFD_CLOEXEC, ORDERS_FD + 1);
	/* The end to write to is stderr already. */
	return start.printed < 0 || dup2(out[1], STDOUT_FILENO) < 0 ? -1 : 0;
}

__attribute__((constructor)) static void find_out(int argc, char **argv)
{
	static char modules[4096];
	const char *named = getenv(WARM_MODULES);

	if (argc < 2)
		return;
	if (named != NULL && strlen(named) < sizeof(modules))
		start.modules = strcpy(modules, named);
	unsetenv(WARM_MODULES);
	unsetenv("LD_PRELOAD");
	start.orders = ORDERS_FD;
	if (take_descriptors() < 0)
		_exit(1);
	start.script = argv[argc - 1];
}

typedef FILE *opener(const char *path, const char *mode);

static FILE *open_next(const char *symbol, const char *path, const char *mode)
{
	void *address = dlsym(RTLD_NEXT, symbol);
	opener *next;

	if (start.script != NULL && path != NULL && strcmp(path, start.script) == 0) {
		template_main(&start);
		start.script = NULL;
	}
	memcpy(&next, &address, sizeof(next));
	errno = 0;
	return next(path, mode);
}

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
	return open_next("fopen", path, mode);
}

__attribute__((visibility("default"))) FILE *fopen64(const char *path, const char *mode)
{
	return open_next("fopen64", path, mode);
}
