/*
 * The launcher sits inside the run's control groups and clones: what it makes
 * is born there, so that no process is ever moved. It holds the capabilities
 * of the keeper's user namespace, reads nothing but requests of the keeper,
 * and dies with it.
 */
#include "sandbox/keeper/keeper.h"

#include <errno.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As fork, with namespaces; the child is the keeper's, not ours. */
static pid_t clone_init(int *ret_pidfd)
{
	long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_PARENT | CLONE_PIDFD |
		     SIGCHLD;

	return (pid_t)syscall(SYS_clone, flags, NULL, ret_pidfd, NULL, NULL);
}

static void report(int keeper, const char *step, const char *remedy)
{
	struct event event = { .kind = EVENT_FAILED };

	failure_set(&event.failure, step, remedy);
	message_send(keeper, &event, sizeof(event), NULL, 0);
}

static void launch(int keeper, const struct launch *launch, int *fds)
{
	struct event born = { .kind = EVENT_BORN };
	int pidfd = -1;
	pid_t pid = clone_init(&pidfd);

	if (pid == 0)
		init_main(launch, fds, keeper);
	if (pid < 0) {
		report(keeper, "pid, mount and ipc namespaces",
		       "check `sysctl user.max_pid_namespaces user.max_mnt_namespaces "
		       "user.max_ipc_namespaces`");
		return;
	}
	born.pid = pid;
	message_send(keeper, &born, sizeof(born), &pidfd, 1);
	close(pidfd);
}

static void launcher_main(const struct cgroups *c, int keeper) __attribute__((noreturn));
static void launcher_main(const struct cgroups *c, int keeper)
{
	struct event ready = { .kind = EVENT_READY };
	struct launch request;
	int fds[PROTOCOL_RUN_FDS];

	prctl(PR_SET_NAME, "assay-launcher");
	if (cgroups_join(c) < 0) {
		report(keeper, "join control groups", "");
		_exit(1);
	}
	ready.status = unshare(CLONE_NEWCGROUP) == 0;
	message_send(keeper, &ready, sizeof(ready), NULL, 0);
	while (message_receive(keeper, &request, sizeof(request), fds, PROTOCOL_RUN_FDS) ==
	       sizeof(request)) {
		launch(keeper, &request, fds);
		close_all(fds, PROTOCOL_RUN_FDS);
	}
	_exit(0);
}

int launcher_start(const struct cgroups *c, int *ret_fd, pid_t *ret_pid)
{
	int pair[2];
	pid_t pid, keeper = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	pid = fork();
	if (pid < 0) {
		close_all(pair, 2);
		return -1;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != keeper)
			_exit(0);
		close(pair[0]);
		close(PROTOCOL_FD);
		launcher_main(c, pair[1]);
	}
	close(pair[1]);
	*ret_fd = pair[0];
	*ret_pid = pid;
	return 0;
}
