/*
 * Sockets of a dead guest. Those that lie in each other's queues, in messages that nobody received,
 * outlive all who had them, with all that is queued: memory of the run's group, charged to the next
 * run, and descriptors on their way, counted against everybody of that user. The kernel looks for
 * such only when some unix socket is closed, whosesoever. So we close one, and wait: the work is
 * done by threads of the kernel, which take a tick or two for each socket that lies within
 * another's queue, and a guest can stack some hundred. The next run waits that long only for memory
 * it would be charged with. It may not wait for more than some three seconds.
 */
#include "sandbox/native/keeper/garbage.h"

#include "sandbox/native/keeper/supervise.h"
#include "sandbox/native/keeper/util.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS     500000
#define PATIENCE_US  50000
#define GIVE_UP_US   3000000
#define LITTLE_BYTES (8 << 20) /* about what the launcher and init have themselves */

static void start_collector(void)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
}

bool garbage_collect(int sockstat, const struct cgroups *c)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int64_t start = now_us(), left;

	while ((left = supervise_sockets(sockstat)) > 0) {
		int64_t waited = now_us() - start;
		if (waited > GIVE_UP_US ||
		    (waited > PATIENCE_US && cgroups_memory_now(c) < LITTLE_BYTES))
			break;
		start_collector();
		nanosleep(&pause, NULL);
	}
	return left == 0;
}
