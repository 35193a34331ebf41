// threat: 75 descriptors left on their way, in sockets that keep each other alive
// alone: it takes all descriptors on their way that a user may have
// limit: open_files=256
#include "probe.h"
#include "scm.h"
/* Past the limit the kernel refuses; what is refused would not stay. */
int main(void)
{
	int fds[200] = { 0 };
	for (int i = 0; i < 2; i++) {
		int pair[2];
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		send_fds(pair[1], pair, 1);
		fds[0] = pair[1];
		send_fds(pair[0], fds, 200);
		must(close(pair[0]) == 0 && close(pair[1]) == 0);
	}
}
