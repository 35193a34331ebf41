// threat: 76 and full queues within each other, of which only the outermost keeps itself alive
// alone: what it leaves is counted for its user until it is collected
// limit: memory_mib=64 open_files=256
#include "probe.h"
#include "scm.h"
int main(void)
{
	size_t queued = 0;
	int pair[2], inner = -1;
	for (int level = 0; level < 50; level++) {
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		if (inner >= 0) {
			send_fds(pair[0], &inner, 1);
			must(close(inner) == 0);
		}
		queued += fill(pair[0]);
		inner = pair[1];
		must(close(pair[0]) == 0);
	}
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	send_fds(pair[0], &inner, 1);
	send_fds(pair[0], &pair[1], 1);
	must(queued >= 8 << 20);
}
