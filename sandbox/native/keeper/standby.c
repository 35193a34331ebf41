/*
 * The launcher and the init that waits below it, between two runs: ordered with what is known of
 * the next one, replaced when they are gone or what the last one left cannot be taken away. While
 * a run lasts, nothing here is called.
 */
#include "sandbox/native/keeper/standby.h"

#include "sandbox/native/keeper/garbage.h"

#include <signal.h>
#include <sys/wait.h>

/* It dies while we tell what came of the run. */
void standby_dismiss(const struct keeper *k)
{
	if (k->launcher.pid > 0)
		kill(k->launcher.pid, SIGKILL);
}

/* With everything it made: a message nobody read must not reach the next. */
void standby_discard(struct keeper *k)
{
	if (k->launcher.pid <= 0)
		return;
	kill(k->launcher.pid, SIGKILL);
	close_all(&k->launcher.events, 1);
	close_all(&k->launcher.orders, 1);
	waitpid(k->launcher.pid, NULL, 0);
	k->launcher = (struct launcher){ .events = -1, .orders = -1 };
	close_all(&k->sockets, 1);
	k->ordered = false;
}

/*
 * Runs share the launcher's net namespace, which takes longer to make than all
 * else together. All that can be left in it are sockets of the dead that keep each
 * other alive (garbage.c): should they not go, the next run gets a new one.
 */
bool standby_net_is_clean(struct keeper *k)
{
	if (garbage_collect(k->sockets, &k->cgroups))
		return true;
	close_all(&k->sockets, 1); /* it is the old one's */
	return false;
}

void standby_order(struct keeper *k, const struct standby *standby)
{
	k->standby = *standby;
	k->ordered =
		message_send(k->launcher.orders, &k->standby, sizeof(k->standby), NULL, 0) == 0;
}

/* The kernel may have chosen the launcher when a run ate all memory. */
int standby_ensure(struct keeper *k, const struct protocol_limits *limits)
{
	if (k->launcher.pid > 0 && waitpid(k->launcher.pid, NULL, WNOHANG) != 0) {
		k->launcher.pid = 0;
		close_all(&k->launcher.events, 1);
		close_all((int[]){ k->launcher.orders, k->sockets }, 2);
		k->launcher.orders = k->sockets = -1;
		k->ordered = false;
	}
	if (k->launcher.pid == 0 && launcher_start(&k->cgroups, &k->launcher) < 0)
		return -1;
	if (!k->ordered)
		standby_order(k, &(struct standby){ .disk_bytes = limits->disk_bytes,
						    .inodes = limits->inodes });
	return k->ordered ? 0 : -1;
}
