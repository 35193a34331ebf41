/*
 * The walls of a guest, for one that becomes its interpreter by exec (guest.c) and one that was
 * forked as it (sandbox/native/warm): nothing here may be reordered without thinking. Capabilities,
 * no_new_privs and signal dispositions are inherited; of the steps that need no job the filter
 * comes last, because those before it need calls it refuses. After it come the limits of the job,
 * which may only be lowered, and last that on open files, under which the listener might not be
 * sent.
 */
#include "sandbox/native/keeper/keeper.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GUEST_FDS 5 /* those of a linked run */

static int stop(struct guest *g, const char *step)
{
	return failure_set(&g->failure, step, "");
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
	return (int)syscall(SYS_close_range, (unsigned)count, (unsigned)INT_MAX, /* gVisor's most */
			    CLOSE_RANGE_CLOEXEC);
}

static int confine_calls(const struct guest *g)
{
	struct event event = { .kind = EVENT_LISTENER };

	if (g->launch->filter == PROTOCOL_FILTER_PLAIN)
		return confine_seccomp_plain();
	int listener = confine_seccomp(g->launch->filter);
	if (listener < 0)
		return -1;
	if (message_send(g->keeper, &event, sizeof(event), &listener, 1) < 0)
		return -1;
	return close(listener);
}

int walls_raise(struct guest *g)
{
	if (setsid() < 0)
		return stop(g, "session");
	if (chdir("/work") < 0)
		return stop(g, "work folder");
	if (confine_fixed_rlimits(g->launch->filter) < 0)
		return stop(g, "rlimits");
	if (g->launch->landlock_abi > 0 && confine_landlock(g->launch->landlock_abi) < 0)
		return stop(g, "landlock");
	return confine_calls(g) < 0 ? stop(g, "seccomp") : 0;
}

int walls_take_job(struct guest *g)
{
	if (confine_job_rlimits(g->launch) < 0)
		return stop(g, "rlimits");
	if (arrange_descriptors(g) < 0)
		return stop(g, "descriptors");
	return confine_open_files(g->launch) < 0 ? stop(g, "rlimits") : 0;
}
