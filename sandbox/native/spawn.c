/*
 * How a keeper, its helpers and what connects them are started, by assay and by a keeper: nothing
 * of the starter is there but what is named. It waits for nobody, and keeps no descriptor.
 * Linked into both programs, it may use nothing but libc.
 */
#include "sandbox/native/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>

static bool is_named(const struct spawn_fd *fds, size_t count, int number)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i].as == number)
			return true;
	return false;
}

static void add_descriptors(posix_spawn_file_actions_t *actions, const struct spawn_fd *fds,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		posix_spawn_file_actions_adddup2(actions, fds[i].fd, fds[i].as);
	for (int fd = 0; fd < 3; fd++)
		if (!is_named(fds, count, fd))
			posix_spawn_file_actions_addopen(actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_addclosefrom_np(actions, fds[count - 1].as + 1);
}

int spawn_apart(const char *path, char **argv, char **env, const struct spawn_fd *fds, size_t count,
		pid_t *ret_pid)
{
	sigset_t none;

	sigemptyset(&none);
	sigset_t all;
	sigfillset(&all);
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_t attr;
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSID);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	add_descriptors(&actions, fds, count);
	int status = posix_spawn(ret_pid, path, &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return status;
}
