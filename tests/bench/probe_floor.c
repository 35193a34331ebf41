/*
 * Times what nobody can go below, with no assay in it: "fork" makes a process that ends, and waits
 * for it; "large" one of a process that holds 64 MiB; "namespaces" one in namespaces of its own,
 * empty ones, of every kind a run has; "attach FILE" joins the control group that this process is
 * in, by its file; "sync" writes 4 KiB of a plain file and waits for the disk once. probe_floor
 * FOLDER
 */
#include "tests/bench/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
#define SYNC_BYTES  4096
#define LARGE_BYTES (64u << 20)

static const char *folder;

static int end_at_once(void *unused)
{
	(void)unused;
	_exit(0);
}

static void time_process(int flags)
{
	static char stack[65536] __attribute__((aligned(16)));
	const double began = probe_now_ms();
	const pid_t pid = clone(end_at_once, stack + sizeof(stack), flags | SIGCHLD, NULL);
	int status = -1;

	if (pid > 0 && waitpid(pid, &status, 0) == pid && status == 0)
		probe_ok(probe_now_ms() - began);
	else
		probe_no(pid < 0 ? strerror(errno) : "the process did not end well");
}

static void time_large(void)
{
	static char *held;

	if (held == NULL) {
		held = malloc(LARGE_BYTES);
		if (held != NULL)
			memset(held, 1, LARGE_BYTES);
	}
	time_process(0);
}

static void time_attach(const char *path)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);
	const double began = probe_now_ms();

	if (fd >= 0 && write(fd, "0", 1) == 1)
		probe_ok(probe_now_ms() - began);
	else
		probe_no(strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void time_sync(void)
{
	static const char bytes[SYNC_BYTES];
	char path[4096];
	double began;
	int fd;

	snprintf(path, sizeof(path), "%s/floor-sync", folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	began = probe_now_ms();
	if (fd >= 0 && pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	    fdatasync(fd) == 0)
		probe_ok(probe_now_ms() - began);
	else
		probe_no(strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void answer(char *const *words, size_t count)
{
	if (count == 1 && strcmp(words[0], "fork") == 0)
		time_process(0);
	else if (count == 1 && strcmp(words[0], "namespaces") == 0)
		time_process(NAMESPACES);
	else if (count == 1 && strcmp(words[0], "large") == 0)
		time_large();
	else if (count == 2 && strcmp(words[0], "attach") == 0)
		time_attach(words[1]);
	else if (count == 1 && strcmp(words[0], "sync") == 0)
		time_sync();
	else
		probe_no("fork, large, namespaces, attach or sync");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	folder = argv[1];
	probe_serve(answer);
	return 0;
}
