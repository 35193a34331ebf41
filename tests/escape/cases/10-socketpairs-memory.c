// threat: 10 2000 full socket pairs, with descriptors for all of them
// outcome: memory
// limit: memory_mib=64 open_files=4096
// without-memory: exit 3
#include "probe.h"
int main(void)
{
	static char chunk[65536];
	for (int i = 0; i < 2000; i++) {
		int s[2];
		must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, s) == 0);
		for (int end = 0; end < 2; end++) while (write(s[end], chunk, sizeof(chunk)) > 0) ;
	}
	return 3;
}
