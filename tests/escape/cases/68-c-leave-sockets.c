// threat: 68 50 sockets that keep each other alive when all who had them are dead
// gvisor: exit 1; no socket has an abstract name there: none can be left, and none is found
// gvisor-out: bind(bound, (void *)&name, len) == 0: errno 22
#include "probe.h"
#include <stddef.h>
#include <sys/un.h>
static void send_fd(int to, int fd)
{
	char space[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec io = { "x", 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = space,
			    .msg_controllen = sizeof(space) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	must(sendmsg(to, &m, 0) == 1);
}
int main(void)
{
	for (int i = 0; i < 60; i++) {
		struct sockaddr_un name = { .sun_family = AF_UNIX };
		socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 +
				sprintf(name.sun_path + 1, "cycle-%d", i);
		int pair[2], bound = socket(AF_UNIX, SOCK_DGRAM, 0);
		must(bind(bound, (void *)&name, len) == 0);
		must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
		send_fd(pair[0], bound);   /* waits in pair[1], */
		send_fd(pair[0], pair[1]); /* as does pair[1] itself */
		send_fd(pair[1], pair[0]);
		must(close(bound) == 0 && close(pair[0]) == 0 && close(pair[1]) == 0);
	}
}
