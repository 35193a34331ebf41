/*
 * Messages between this side and the keeper: bytes, and descriptors beside them. Inline: the keeper
 * shares no object with what starts it.
 */
#ifndef NATIVE_MESSAGE_H
#define NATIVE_MESSAGE_H

#include "sandbox/native/protocol.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* A message as sendmsg takes it: bytes, and descriptors beside them. */
struct protocol_message {
	struct msghdr msg; /* what is sent; it refers to the members below */
	struct iovec io;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * PROTOCOL_FDS_MAX)];
};

/* Fills *m, which may not be moved then. bytes are borrowed; at most PROTOCOL_FDS_MAX fds. */
static inline void protocol_message_fill(struct protocol_message *m, const void *bytes, size_t len,
					 const int *fds, size_t nfds)
{
	struct cmsghdr *header = (struct cmsghdr *)(void *)m->control;

	memset(m, 0, sizeof(*m));
	memcpy(&m->io.iov_base, &bytes, sizeof(bytes));
	m->io.iov_len = len;
	m->msg.msg_iov = &m->io;
	m->msg.msg_iovlen = 1;
	if (!nfds)
		return;
	m->msg.msg_control = m->control;
	m->msg.msg_controllen = CMSG_SPACE(sizeof(int) * nfds);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int) * nfds);
	memcpy(CMSG_DATA(header), fds, sizeof(int) * nfds);
}

/* As recvmsg: bytes, 0 at the end, -1. Of ret_fds, of which there are nfds, each is -1 or a
 * descriptor that came, the caller's; more than those are closed. */
static inline ssize_t protocol_receive(int socket, void *ret_bytes, size_t size, int *ret_fds,
				       size_t nfds)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int) * PROTOCOL_FDS_MAX)];
	} control;
	struct iovec io = { .iov_base = ret_bytes, .iov_len = size };
	struct msghdr msg = { .msg_iov = &io,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	for (size_t i = 0; i < nfds; i++)
		ret_fds[i] = -1;
	ssize_t n;
	do
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n;
	size_t came = 0;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < count; i++) {
			int passed;

			memcpy(&passed, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
			if (came < nfds)
				ret_fds[came++] = passed;
			else
				close(passed);
		}
	}
	return n;
}

#endif
