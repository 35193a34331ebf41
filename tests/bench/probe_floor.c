/*
 * Times what nobody can go below, with no assay in it: "fork" makes a process that ends, and waits
 * for it; "large" one of a process that holds 64 MiB; "namespaces" one in namespaces of its own,
 * empty ones, of every kind a run has; "attach FILE" joins the control group that this process is
 * in, by its file; "sync" writes 4 KiB of a plain file and waits for the disk once; "first CODE
 * PROGRAM [ARGUMENT...]" gives code to an interpreter that had time to start, by its standard
 * input, and waits for the first byte of its output, "end" the same for its end. probe_floor FOLDER
 */
#include "tests/bench/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
#define SYNC_BYTES  4096
#define LARGE_BYTES (64u << 20)
#define READY_US    150000 /* as those that wait in a sandbox have (probe_sandbox) */

extern char **environ;

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

/* Held for this one only: the others are asked in turn with it. */
static void time_large(void)
{
	char *held = malloc(LARGE_BYTES);

	if (held == NULL) {
		probe_no("no memory");
		return;
	}
	memset(held, 1, LARGE_BYTES);
	time_process(0);
	free(held);
}

/* Its ends of two pipes, in and out; -1: it was not started. */
static pid_t start_interpreter(char *const *argv, int ret_pipes[2])
{
	posix_spawn_file_actions_t actions;
	int in[2], out[2];
	pid_t pid = -1;

	if (pipe2(in, O_CLOEXEC) < 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[0]);
		close(in[1]);
		return -1;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in[0], 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	close(in[0]);
	close(out[1]);
	ret_pipes[0] = in[1];
	ret_pipes[1] = out[0];
	return pid;
}

static void time_waited(bool first, const char *code, char *const *argv)
{
	int pipes[2] = { -1, -1 }, status = -1;
	const pid_t pid = start_interpreter(argv, pipes);
	const size_t len = strlen(code);
	char byte;

	usleep(READY_US);
	const double began = probe_now_ms();
	const bool given = pid > 0 && write(pipes[0], code, len) == (ssize_t)len;
	close(pipes[0]);
	const bool said = given && read(pipes[1], &byte, 1) == 1;
	const double first_ms = probe_now_ms() - began;
	if (pid > 0)
		waitpid(pid, &status, 0);
	const double end_ms = probe_now_ms() - began;
	close(pipes[1]);
	if (said && status == 0)
		probe_ok(first ? first_ms : end_ms);
	else
		probe_no("the interpreter did not end well");
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
	else if (count >= 3 && (strcmp(words[0], "first") == 0 || strcmp(words[0], "end") == 0))
		time_waited(strcmp(words[0], "first") == 0, words[1], words + 2);
	else
		probe_no("fork, large, namespaces, attach, sync, first or end");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	folder = argv[1];
	probe_serve(answer);
	return 0;
}
