/*
 * The launcher sits inside the run's control groups and clones: what it makes is born there, so
 * that no process is ever moved. It makes the next run's init ahead of time, so that a run finds
 * its namespaces and mounts waiting. It holds the capabilities of the keeper's user namespace, may
 * read nothing but orders of the keeper, and dies with it. The template, too, is forked here, so
 * that what that forks is in the groups.
 */
#include "sandbox/native/keeper/launch.h"

#include "sandbox/native/keeper/become.h"
#include "sandbox/native/keeper/root.h"
#include "sandbox/native/keeper/util.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

struct birth {
	struct standby standby;
	int keeper;
};

static int enter_init(void *arg)
{
	const struct birth *birth = arg;

	init_main(&birth->standby, birth->keeper);
}

static void tell_failed(int keeper, const char *step, const char *remedy)
{
	struct event event = { .kind = EVENT_FAILED };

	failure_set(&event.failure, step, remedy);
	message_send(keeper, &event, sizeof(event), NULL, 0);
}

/*
 * The child is the keeper's, not ours (CLONE_PARENT), and runs in our memory
 * on a stack of its own: copying even this small process, and the faults
 * after, would cost a tenth of a millisecond. We touch nothing while it lives
 * but the message that it was born; there is never more than one.
 */
static void launch(const struct birth *birth)
{
	static char stack[65536] __attribute__((aligned(16)));
	static struct birth shared;
	struct event born = { .kind = EVENT_BORN };
	int flags = CLONE_VM | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_PARENT |
		    CLONE_PIDFD | SIGCHLD;

	if (birth->standby.fresh_net && root_isolate_net(&born.failure) < 0) {
		tell_failed(birth->keeper, born.failure.step, born.failure.remedy);
		return;
	}
	shared = *birth;
	int pidfd = -1;
	born.pid = clone(enter_init, stack + sizeof(stack), flags, &shared, &pidfd);
	if (born.pid < 0) {
		tell_failed(birth->keeper, "pid, mount and ipc namespaces",
			    "check `sysctl user.max_pid_namespaces user.max_mnt_namespaces "
			    "user.max_ipc_namespaces`");
		return;
	}
	message_send(birth->keeper, &born, sizeof(born), &pidfd, 1);
	close(pidfd);
}

/* In memory of its own, for it outlives the order; and the keeper's child, who ends it. */
static void launch_template(const int *fds)
{
	struct event born = { .kind = EVENT_BORN };
	int pidfd = -1;
	pid_t keeper = getppid();

	born.pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | CLONE_PIDFD | SIGCHLD, NULL, &pidfd,
				  NULL, 0);
	if (born.pid == 0) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != keeper ||
		    become_template(fds) < 0)
			tell_failed(fds[TEMPLATE_ORDERS], "template: start it", "");
		_exit(1);
	}
	if (born.pid < 0)
		tell_failed(fds[TEMPLATE_ORDERS], "template: fork", "");
	else
		message_send(fds[TEMPLATE_ORDERS], &born, sizeof(born), &pidfd, 1);
	close_all(&pidfd, 1);
}

static int close_between(int below, int above)
{
	return below + 1 >= above ? 0 :
				    (int)syscall(SYS_close_range, (unsigned)below + 1u,
						 (unsigned)above - 1u, 0u);
}

/* A launcher may be started anew while a run is about to begin: with one of its pipes
 * open here, or in any init after, nobody would ever see that pipe's end. */
static int keep_only(int orders, int keeper)
{
	int low = orders < keeper ? orders : keeper, high = orders < keeper ? keeper : orders;

	return close_between(PROTOCOL_STARTED_FD, low) < 0 || close_between(low, high) < 0 ?
		       -1 :
		       (int)syscall(SYS_close_range, (unsigned)high + 1u, ~0u, 0u);
}

static void launcher_main(const struct cgroups *c, int orders, int keeper)
	__attribute__((noreturn));
static void launcher_main(const struct cgroups *c, int orders, int keeper)
{
	struct event ready = { .kind = EVENT_READY };
	struct birth birth = { .keeper = keeper };

	prctl(PR_SET_NAME, "assay-launcher");
	if (cgroups_join(c) < 0) {
		tell_failed(keeper, "join control groups", "");
		_exit(1);
	}
	if (keep_only(orders, keeper) < 0) {
		tell_failed(keeper, "close what is the keeper's", "");
		_exit(1);
	}
	ready.status = unshare(CLONE_NEWCGROUP) == 0;
	message_send(keeper, &ready, sizeof(ready), NULL, 0);
	if (root_isolate_net(&ready.failure) < 0) {
		ready.kind = EVENT_FAILED;
		message_send(keeper, &ready, sizeof(ready), NULL, 0);
		_exit(1);
	}
	int fds[TEMPLATE_FDS];
	while (message_receive(orders, &birth.standby, sizeof(birth.standby), fds, TEMPLATE_FDS) ==
	       sizeof(birth.standby)) {
		if (birth.standby.makes_template)
			launch_template(fds);
		else
			launch(&birth);
		close_all(fds, TEMPLATE_FDS);
	}
	_exit(0);
}

/* It has the keeper's root, whichever that is (CLONE_FS): the first one is started before there is
 * the one that a guest sees. */
int launcher_start(const struct cgroups *c, struct launcher *ret)
{
	int orders[2], events[2] = { -1, -1 };
	pid_t keeper = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, orders) < 0)
		return -1;
	pid_t pid = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events) == 0)
		pid = (pid_t)syscall(SYS_clone, CLONE_FS | SIGCHLD, NULL, NULL, NULL, 0);
	if (pid < 0) {
		close_all(orders, 2);
		close_all(events, 2);
		return -1;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != keeper)
			_exit(0);
		close_all((int[]){ orders[0], events[0], PROTOCOL_FD }, 3);
		launcher_main(c, orders[1], events[1]);
	}
	close_all((int[]){ orders[1], events[1] }, 2);
	*ret = (struct launcher){ .pid = pid, .orders = orders[0], .events = events[0] };
	return 0;
}
