/*
 * Small files, messages with descriptors, time. libc only and no allocation: it runs in processes
 * that were forked between namespaces.
 */
#include "sandbox/native/keeper/util.h"

#include "sandbox/native/message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int failure_set(struct protocol_failure *failure, const char *step, const char *remedy)
{
	failure->errnum = errno;
	if (errno == ETOOMANYREFS)
		remedy = PROTOCOL_REMEDY_IN_FLIGHT;
	strncpy(failure->step, step, sizeof(failure->step) - 1);
	strncpy(failure->remedy, remedy, sizeof(failure->remedy) - 1);
	return -1;
}

ssize_t file_read(int dirfd, const char *path, char *ret_text, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	size_t len = 0;
	ssize_t n;
	while (len < size - 1 && (n = read(fd, ret_text + len, size - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	ret_text[len] = '\0';
	return (ssize_t)len;
}

int file_write(int dirfd, const char *path, const char *text)
{
	int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	ssize_t n = write(fd, text, strlen(text));
	int saved = errno;
	close(fd);
	errno = saved;
	return n < 0 ? -1 : 0;
}

int message_send(int fd, const void *message, size_t len, const int *fds, size_t nfds)
{
	struct protocol_message m;

	protocol_message_fill(&m, message, len, fds, nfds);
	ssize_t n;
	do
		n = sendmsg(fd, &m.msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

ssize_t message_receive(int fd, void *ret_message, size_t size, int *ret_fds, size_t nfds)
{
	return protocol_receive(fd, ret_message, size, ret_fds, nfds);
}

int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void close_all(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}
