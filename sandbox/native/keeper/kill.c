/*
 * To kill each process of a run, and to stop and continue them, through the /proc of its pid
 * namespace. A signal goes to a process by a descriptor of it, never by a number that may be
 * another's by then. Nothing here counts what one uses.
 */
#include "sandbox/native/keeper/kill.h"

#include "sandbox/native/keeper/supervise.h"
#include "sandbox/native/keeper/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The directory stands for the process and never for the next of its number. */
static void send_signal(int proc, const char *pid, int number)
{
	int fd = openat(proc, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
	close(fd);
}

static void kill_one(int proc, const char *pid, struct usage *usage)
{
	(void)usage;
	send_signal(proc, pid, SIGKILL);
}

void supervise_kill(int proc)
{
	processes_visit(proc, kill_one, NULL);
}

static bool is_among(const struct stopped *list, const char *pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->pids[i] == strtol(pid, NULL, 10))
			return true;
	return false;
}

static void kill_other(int proc, const char *pid, struct usage *usage)
{
	if (!processes_is_init(pid) && !is_among(usage->stopped, pid))
		send_signal(proc, pid, SIGKILL);
}

void supervise_kill_others(int proc, struct stopped *spared)
{
	processes_visit(proc, kill_other, &(struct usage){ .stopped = spared });
}

static void count_other(int proc, const char *pid, struct usage *usage)
{
	(void)proc;
	usage->pids += !processes_is_init(pid) && !is_among(usage->stopped, pid);
}

int64_t supervise_others(int proc, struct stopped *spared)
{
	struct usage usage = { .stopped = spared };

	return processes_visit(proc, count_other, &usage) < 0 ? -1 : usage.pids;
}

bool supervise_stop_one(int proc, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%ld", (long)pid);
	send_signal(proc, name, SIGSTOP);
	char text[1024];
	if (processes_read(proc, name, "stat", text, sizeof(text)) <= 0)
		return false;
	const char *at = strrchr(text, ')');
	return at && !strncmp(at, ") T", 3);
}

int64_t supervise_threads(int proc, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%ld", (long)pid);
	char text[4096];
	if (processes_read(proc, name, "status", text, sizeof(text)) <= 0)
		return -1;
	const char *at = strstr(text, "\nThreads:");
	return !at ? -1 : strtoll(at + strlen("\nThreads:"), NULL, 10);
}

uint64_t supervise_since(int proc, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%ld", (long)pid);
	char text[1024];
	if (processes_read(proc, name, "stat", text, sizeof(text)) <= 0)
		return 0;
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return !at ? 0 : strtoull(at + 1, NULL, 10);
}

static void note_stopped(int proc, const char *pid, struct usage *usage)
{
	char text[1024];

	if (processes_read(proc, pid, "stat", text, sizeof(text)) <= 0)
		return;
	const char *at = strrchr(text, ')');
	if (at && !strncmp(at, ") T", 3) && usage->stopped->count < STOPPED_MAX)
		usage->stopped->pids[usage->stopped->count++] = strtol(pid, NULL, 10);
}

static void stop_one(int proc, const char *pid, struct usage *usage)
{
	(void)usage;
	if (!processes_is_init(pid))
		send_signal(proc, pid, SIGSTOP);
}

static void continue_one(int proc, const char *pid, struct usage *usage)
{
	const struct stopped *before = usage->stopped;
	size_t i = 0;

	while (i < before->count && before->pids[i] != strtol(pid, NULL, 10))
		i++;
	if (i == before->count && !processes_is_init(pid))
		send_signal(proc, pid, SIGCONT);
}

void supervise_stopped(int proc, struct stopped *ret)
{
	ret->count = 0;
	processes_visit(proc, note_stopped, &(struct usage){ .stopped = ret });
}

void supervise_stop(int proc)
{
	processes_visit(proc, stop_one, NULL);
}

void supervise_continue(int proc, struct stopped *before)
{
	processes_visit(proc, continue_one, &(struct usage){ .stopped = before });
}
