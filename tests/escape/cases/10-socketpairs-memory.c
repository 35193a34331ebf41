// threat: 10 2000 full socket pairs, with descriptors for all of them
// alone: the kernel counts sockets and descriptors on their way for each user
// outcome: memory
// without-memory: exit 1
// limit: memory_mib=64 open_files=4096
// gvisor: memory; queues of sockets are memory of that kernel, and counted
#include "probe.h"
int main(void)
{
	static char chunk[65536];
	int more = 1 << 20;
	for (int i = 0; i < 2000; i++) {
		int s[2];
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) == 0);
		for (int end = 0; end < 2; end++) {
			setsockopt(s[end], SOL_SOCKET, SO_SNDBUF, &more, sizeof(more));
			while (write(s[end], chunk, sizeof(chunk)) > 0)
				;
		}
	}
	for (;;)
		pause(); /* until somebody looks */
}
