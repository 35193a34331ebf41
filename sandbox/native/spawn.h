/* Starting a program of assay's own with nothing of whoever starts it but what is named. */
#ifndef SANDBOX_NATIVE_SPAWN_H
#define SANDBOX_NATIVE_SPAWN_H

#include <stddef.h>
#include <sys/types.h>

/* A descriptor, and the number that the program gets it under. */
struct spawn_fd {
	int fd, as;
};

/*
 * There is one of fds at least. They ascend in what they are got as, and none has the number that
 * one before it is got as. Of 0 to 2 those not named are /dev/null; above the last named the
 * program has none. It has a session of its own, no signal blocked and none of our dispositions. 0,
 * or an errno.
 */
int spawn_apart(const char *path, char **argv, char **env, const struct spawn_fd *fds, size_t count,
		pid_t *ret_pid);

#endif
