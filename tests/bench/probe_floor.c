/*
 * Times what nobody can go below, with no assay in it: "fork" makes a process that ends, and waits
 * for it; "large" one of a process that holds 64 MiB; "namespaces" one in namespaces of its own,
 * empty ones, of every kind a run has; "attach FILE" joins the control group that this process is
 * in, by its file; "sync" writes 4 KiB of a plain file and waits for the disk once; "tasks N"
 * makes, N times and two at a time, what a task of a batch cannot do without: two processes in
 * mount, pid and ipc namespaces of their own, a third in none, and two waits for the disk; "first
 * CODE PROGRAM [ARGUMENT...]" gives code to an interpreter that had time to start, by its standard
 * input, and waits for the first byte of its output, "end" the same for its end, "loaded" of one
 * that imports much before. probe_floor FOLDER
 */
#include "tests/bench/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)
#define SYNC_BYTES  4096
#define LARGE_BYTES (64u << 20)
#define READY_US    150000 /* as those that wait in a sandbox have (probe_sandbox) */
#define LOADED_US   600000 /* and one that imports what takes long */

extern char **environ;

static const char *folder;

static int end_at_once(void *unused)
{
	(void)unused;
	_exit(0);
}

/* NULL, or why it did not end well. */
static const char *make_process(int flags)
{
	static char stack[65536] __attribute__((aligned(16)));
	const pid_t pid = clone(end_at_once, stack + sizeof(stack), flags | SIGCHLD, NULL);
	int status = -1;

	if (pid < 0)
		return strerror(errno);
	return waitpid(pid, &status, 0) == pid && status == 0 ? NULL :
								"the process did not end well";
}

static void time_process(int flags)
{
	const double began = probe_now_ms();
	const char *why = make_process(flags);

	if (!why)
		probe_ok(probe_now_ms() - began);
	else
		probe_no(why);
}

/* Held for this one only: the others are asked in turn with it. */
static void time_large(void)
{
	char *held = malloc(LARGE_BYTES);

	if (!held) {
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

static void time_waited(bool first, useconds_t ready_us, const char *code, char *const *argv)
{
	int pipes[2] = { -1, -1 }, status = -1;
	const pid_t pid = start_interpreter(argv, pipes);
	const size_t len = strlen(code);

	usleep(ready_us);
	const double began = probe_now_ms();
	const bool given = pid > 0 && write(pipes[0], code, len) == (ssize_t)len;
	close(pipes[0]);
	char byte;
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

/* NULL, or why it could not be written. */
static const char *write_once(const char *name)
{
	static const char bytes[SYNC_BYTES];
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	const bool done = fd >= 0 &&
			  pwrite(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
			  fdatasync(fd) == 0;
	const int failed = errno;

	if (fd >= 0)
		close(fd);
	return done ? NULL : strerror(failed);
}

static void time_sync(void)
{
	const double began = probe_now_ms();
	const char *why = write_once("floor-sync");

	if (!why)
		probe_ok(probe_now_ms() - began);
	else
		probe_no(why);
}

/* One of the two. What nothing can be left in is of all its processes. */
static void work(long tasks, const char *name) __attribute__((noreturn));
static void work(long tasks, const char *name)
{
	const int fresh = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC;
	bool well = unshare(NAMESPACES & ~fresh) == 0;

	for (long n = 0; n < tasks && well; n++)
		well = !make_process(fresh) && !make_process(fresh) && !make_process(0) &&
		       !write_once(name) && !write_once(name);
	_exit(!well);
}

static double used_ms(void)
{
	struct rusage all;

	getrusage(RUSAGE_CHILDREN, &all);
	return (double)(all.ru_utime.tv_sec + all.ru_stime.tv_sec) * 1e3 +
	       (double)(all.ru_utime.tv_usec + all.ru_stime.tv_usec) / 1e3;
}

static void time_tasks(long tasks)
{
	const double began = probe_now_ms(), used = used_ms();
	const pid_t first = fork();
	bool well = true;

	if (first == 0)
		work(tasks / 2, "floor-first");
	const pid_t second = first < 0 ? -1 : fork();
	if (second == 0)
		work(tasks - tasks / 2, "floor-second");
	for (int n = 0, status; n < (first > 0) + (second > 0); n++)
		well = wait(&status) > 0 && status == 0 && well;
	if (second > 0 && well)
		printf("ok %.6f %.6f\n", probe_now_ms() - began, used_ms() - used);
	else
		probe_no("a process of a task did not end well");
}

static void answer(char *const *words, size_t count)
{
	if (count == 1 && !strcmp(words[0], "fork"))
		time_process(0);
	else if (count == 1 && !strcmp(words[0], "namespaces"))
		time_process(NAMESPACES);
	else if (count == 1 && !strcmp(words[0], "large"))
		time_large();
	else if (count == 2 && !strcmp(words[0], "attach"))
		time_attach(words[1]);
	else if (count == 1 && !strcmp(words[0], "sync"))
		time_sync();
	else if (count == 2 && !strcmp(words[0], "tasks"))
		time_tasks(strtol(words[1], NULL, 10));
	else if (count >= 3 && (!strcmp(words[0], "first") || !strcmp(words[0], "end")))
		time_waited(!strcmp(words[0], "first"), READY_US, words[1], words + 2);
	else if (count >= 3 && !strcmp(words[0], "loaded"))
		time_waited(false, LOADED_US, words[1], words + 2);
	else
		probe_no("fork, large, namespaces, attach, sync, tasks, first, end or loaded");
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
