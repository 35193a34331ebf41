/*
 * Control groups are removed, by a process that outlives the keeper and by whoever comes after
 * both. One whose keeper lives is left alone: its name has the start time of that, too.
 */
#include "sandbox/native/keeper/cgroup.h"
#include "sandbox/native/keeper/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The start time of a process in clock ticks, 0 when there is none. */
unsigned long long cgroup_start_time(long pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	char text[1024];
	if (file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return !at ? 0 : strtoull(at + 1, NULL, 10);
}

/* Removes the groups of keepers that are no more. */
static void remove_litter(int parent)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, CGROUP_PREFIX, strlen(CGROUP_PREFIX)))
			continue;
		char *end;
		long pid = strtol(entry->d_name + strlen(CGROUP_PREFIX), &end, 10);
		if (*end == '-' && strtoull(end + 1, NULL, 10) != cgroup_start_time(pid))
			unlinkat(parent, entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

/* Removes what others left; waits for the keeper's end, then for its groups to
 * empty. */
static void janitor_main(const struct cgroups *c, int lifeline)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	prctl(PR_SET_NAME, "assay-janitor");
	for (size_t i = 0; i < c->count; i++)
		remove_litter(c->parents[i]);
	char byte;
	while (read(lifeline, &byte, 1) < 0 && errno == EINTR)
		;
	for (int try = 0; try < 1000; try++) {
		size_t left = 0;

		for (size_t i = 0; i < c->count; i++)
			left += unlinkat(c->parents[i], c->name, AT_REMOVEDIR) < 0 &&
				errno == EBUSY;
		if (left == 0)
			break;
		nanosleep(&pause, NULL);
	}
}

int cgroups_start_janitor(const struct cgroups *c)
{
	if (c->count == 0)
		return 0;
	int lifeline[2];
	if (pipe2(lifeline, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		close(lifeline[1]);
		close(PROTOCOL_FD);
		janitor_main(c, lifeline[0]);
		_exit(0);
	}
	close(lifeline[0]); /* the other end stays open as long as we live */
	return 0;
}

void cgroups_forget(struct cgroups *c)
{
	close_all(c->files, CG_FILES);
	close_all(c->parents, (size_t)c->count);
	close_all(c->attach, (size_t)c->count);
	close_all(&c->kill, 1);
	c->count = 0;
	c->has_v1 = c->has_v2 = false;
}
