// threat: 76 full queues of sockets that keep each other alive
// alone: what it leaves is counted for its user until it is collected
// limit: memory_mib=64 open_files=256
#include "probe.h"
#include "scm.h"
int main(void)
{
	size_t queued = 0;
	/* two descriptors on their way for each pair */
	for (int i = 0; i < 63 && queued < 24 << 20; i++) {
		int pair[2];
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		send_fds(pair[0], &pair[1], 1);
		send_fds(pair[1], &pair[0], 1);
		queued += fill(pair[0]) + fill(pair[1]);
		must(close(pair[0]) == 0 && close(pair[1]) == 0);
	}
	must(queued >= 18 << 20);
}
