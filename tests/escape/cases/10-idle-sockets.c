// threat: 10 71 idle socket pairs: at the worst there are no more to be had
// alone: the kernel counts sockets and descriptors on their way for each user
// out: ok
// limit: memory_mib=64
#include "probe.h"
int main(void)
{
	for (int i = 0; i < 110; i++) {
		int s[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0) {
			must(errno == ENFILE && i > 20);
			break;
		}
	}
	usleep(300000); /* somebody looks */
	puts("ok");
}
