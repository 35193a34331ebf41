// threat: 10 full queues of sockets that are closed already
// alone: the kernel counts sockets and descriptors on their way for each user
// outcome: memory
// without-memory: exit 1
// limit: memory_mib=64 open_files=1024
// gvisor: memory; queues of sockets are memory of that kernel, and counted
#include "probe.h"
int main(void)
{
	static char chunk[160000];
	for (int i = 0; i < 800; i++) {
		int s[2];
		must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s) == 0);
		while (write(s[0], chunk, sizeof(chunk)) > 0)
			;
		close(s[0]);
	}
	for (;;)
		pause(); /* until somebody looks */
}
