/* Descriptors in messages, and sockets that lie in each other's queues. */
static void send_fds(int to, const int *fds, size_t count)
{
	char space[CMSG_SPACE(sizeof(int) * 253)] = { 0 };
	struct iovec io = { "x", 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = space,
			    .msg_controllen = CMSG_SPACE(sizeof(int) * count) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int) * count);
	memcpy(CMSG_DATA(c), fds, sizeof(int) * count);
	must(sendmsg(to, &m, 0) == 1);
}

/* Bytes queued. Larger queues are not to be had where no group counts memory. */
static size_t fill(int to)
{
	static char block[65536];
	size_t queued = 0;
	ssize_t n;
	setsockopt(to, SOL_SOCKET, SO_SNDBUF, &(int){ 1 << 19 }, sizeof(int));
	while ((n = send(to, block, sizeof(block), MSG_DONTWAIT)) > 0)
		queued += (size_t)n;
	return queued;
}
