// threat: 10 2000 full socket pairs: the descriptors end first
// alone: the kernel counts sockets and descriptors on their way for each user
// out: stopped by EMFILE below 64 MiB
#include "probe.h"
int main(void)
{
	static char chunk[65536];
	long full = 0;
	for (int i = 0; i < 2000; i++) {
		int s[2];
		if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) < 0) {
			must(errno == EMFILE && full < (64 << 20));
			puts("stopped by EMFILE below 64 MiB");
			return 0;
		}
		for (int end = 0; end < 2; end++)
			for (long n; (n = write(s[end], chunk, sizeof(chunk))) > 0;)
				full += n;
	}
	return 1;
}
