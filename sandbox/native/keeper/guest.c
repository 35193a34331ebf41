/*
 * The last steps before hostile code runs: nothing here may be reordered
 * without thinking. Capabilities, no_new_privs and signal dispositions are
 * inherited; the filter comes last, because the steps before it need calls it
 * refuses. After it only the limit on open files, under which its listener might
 * not be sent.
 */
#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GUEST_FDS 5 /* those of a linked run */

static int stop(struct guest *g, const char *step)
{
	failure_set(&g->failure, step, "");
	_exit(1);
}

/* A copy of descriptor fd above all that the guest is given; 0, or -1. */
static int move_up(int *fd)
{
	*fd = fcntl(*fd, F_DUPFD_CLOEXEC, GUEST_FDS);
	return *fd < 0 ? -1 : 0;
}

/* stdin, stdout and stderr are the guest's, and 3 and 4 when it is linked; every
 * other descriptor closes on exec (CVE-2024-21626 was one that did not). Those
 * that we still need may have the very numbers we are about to give away. */
static int arrange_descriptors(struct guest *g)
{
	int count = g->fds[PROTOCOL_FD_LINK_OUT] < 0 ? 3 : GUEST_FDS;

	if (move_up(&g->keeper) < 0 || move_up(&g->started_fd) < 0)
		return -1;
	for (int n = 0; n < count; n++)
		if (move_up(&g->fds[PROTOCOL_FD_STDIN + n]) < 0)
			return -1;
	for (int n = 0; n < count; n++)
		if (dup2(g->fds[PROTOCOL_FD_STDIN + n], n) < 0)
			return -1;
	return (int)syscall(SYS_close_range, (unsigned)count, ~0u, CLOSE_RANGE_CLOEXEC);
}

static int confine_calls(const struct guest *g)
{
	struct event event = { .kind = EVENT_LISTENER };
	int listener = confine_seccomp(g->launch->filter);

	if (listener < 0)
		return -1;
	if (message_send(g->keeper, &event, sizeof(event), &listener, 1) < 0)
		return -1;
	return close(listener);
}

int guest_main(void *arg)
{
	struct guest *g = arg;
	char *const *argv, *const *env;

	if (g->waits && confine_drop_capabilities() < 0)
		return stop(g, "drop capabilities");
	if (setsid() < 0)
		return stop(g, "session");
	if (arrange_descriptors(g) < 0)
		return stop(g, "descriptors");
	if (chdir("/work") < 0)
		return stop(g, "work folder");
	if (confine_rlimits(g->launch) < 0)
		return stop(g, "rlimits");
	if (g->launch->landlock_abi > 0 && confine_landlock(g->launch->landlock_abi) < 0)
		return stop(g, "landlock");
	if (confine_calls(g) < 0)
		return stop(g, "seccomp");
	if (confine_open_files(g->launch) < 0)
		return stop(g, "rlimits");
	memcpy(&argv, &(const char *const *){ g->program->argv }, sizeof(argv));
	memcpy(&env, &(const char *const *){ g->program->env }, sizeof(env));
	if (!g->waits)
		(void)!write(g->started_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
	g->started_us = now_us();
	g->started = true;
	execve(g->program->path, argv, env);
	g->started = false;
	return stop(g, "start the interpreter");
}
