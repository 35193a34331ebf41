// threat: 23 descriptors exhausted, and sent to itself in sockets
// out: contained
// gvisor: exit 1 or timeout_wall; descriptors on their way have no limit of their own; memory has
#include "probe.h"
int main(void)
{
	int s[2], sent = 0;
	must(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, s) == 0);
	for (; sent < 100000; sent++) {
		int fd = open("/dev/null", O_RDONLY);
		char space[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
		struct iovec io = { &byte, 1 };
		struct msghdr m = { .msg_iov = &io,
				    .msg_iovlen = 1,
				    .msg_control = space,
				    .msg_controllen = sizeof(space) };
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
		if (fd < 0 || sendmsg(s[0], &m, 0) < 0)
			break;
		close(fd);
	}
	must(sent < 2000);
	while (dup(0) >= 0)
		;
	must(errno == EMFILE);
	puts("contained");
}
