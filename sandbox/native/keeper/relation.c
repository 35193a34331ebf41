/*
 * Whether a process still lives in the memory of the one that made it: from vfork to exec, the same
 * pages are in the figures of both. Equal figures do not tell, a fork has them too; kcmp does,
 * between pids of our own namespace, which are found from init downwards as the processes come and
 * go. One that is not found may not count as sharing.
 */
#include "sandbox/native/keeper/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX 16

static long status_number(int dir, pid_t pid, const char *key, bool last)
{
	char path[32];

	snprintf(path, sizeof(path), "%ld/status", (long)pid);
	char text[4096];
	if (file_read(dir, path, text, sizeof(text)) <= 0)
		return -1;
	char *at = strstr(text, key);
	if (!at)
		return -1;
	at += strlen(key);
	char *end = strchr(at, '\n');
	if (end)
		*end = '\0';
	end = strrchr(at, '\t'); /* the innermost namespace is the last */
	return strtol(last && end ? end : at, NULL, 10);
}

/* The one in a list of children whose number in its own namespace is pid. */
static pid_t find_child(int host, const char *list, pid_t pid)
{
	char *end;

	for (pid_t child; (child = (pid_t)strtol(list, &end, 10)) > 0; list = end)
		if (status_number(host, child, "\nNSpid:", true) == pid)
			return child;
	return -1;
}

/* Any of its threads may have made it. */
static pid_t child_of(int host, pid_t parent, pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "%ld/task", (long)parent);
	int fd = openat(host, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	if (!tasks) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	pid_t found = -1;
	struct dirent *entry;
	while (found < 0 && (entry = readdir(tasks))) {
		char text[16384];
		char file[sizeof(entry->d_name) + sizeof("/children")];

		snprintf(file, sizeof(file), "%s/children", entry->d_name);
		if (entry->d_name[0] != '.' && file_read(fd, file, text, sizeof(text)) > 0)
			found = find_child(host, text, pid);
	}
	closedir(tasks);
	return found;
}

static pid_t host_pid(int host, int proc, pid_t init, pid_t pid, int depth)
{
	if (pid == 1)
		return init;
	if (pid <= 0 || depth == 0)
		return -1;
	pid_t parent = (pid_t)status_number(proc, pid, "\nPPid:", false);
	parent = host_pid(host, proc, init, parent, depth - 1);
	return parent < 0 ? -1 : child_of(host, parent, pid);
}

bool relation_shares_memory(int proc, pid_t init, pid_t pid, pid_t parent)
{
	int host = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (host < 0)
		return false;
	pid_t outer = host_pid(host, proc, init, parent, DEPTH_MAX);
	pid_t inner = -1;
	if (outer > 0)
		inner = child_of(host, outer, pid);
	close(host);
	return inner > 0 && syscall(SYS_kcmp, outer, inner, KCMP_VM, 0, 0) == 0;
}
