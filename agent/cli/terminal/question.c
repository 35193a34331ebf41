/*
 * Reading a person's answer to a question, a line at most: byte by byte, so that what is
 * typed after it stays for who reads next. It asks nothing and understands nothing.
 */
#include "agent/cli/terminal/question.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

int question_read(int cancel_fd, char *line, size_t size)
{
	struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 }, { cancel_fd, POLLIN, 0 } };
	size_t n = 0;

	for (;;) {
		if (poll(fds, cancel_fd >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
			return 0;
		if (fds[1].revents)
			return -1;
		if (!fds[0].revents)
			continue;
		char c;
		if (read(STDIN_FILENO, &c, 1) != 1)
			return 0;
		if (c == '\n')
			break;
		if (n < size - 1)
			line[n++] = c;
	}
	line[n] = '\0';
	return 1;
}
