/*
 * Times programs from start to end, their output thrown away. The words of a question are the
 * program and its arguments. Links to nothing of assay: it is the same whatever is compared.
 */
#include "tests/bench/probe.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern char **environ;

static double children_cpu_ms(void)
{
	struct rusage use;

	getrusage(RUSAGE_CHILDREN, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

static void answer(char *const *words, size_t count)
{
	posix_spawn_file_actions_t actions;
	double began, cpu = children_cpu_ms();
	int status = -1;

	(void)count;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	began = probe_now_ms();
	pid_t pid;
	int failed = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
	if (failed == 0)
		waitpid(pid, &status, 0);
	began = probe_now_ms() - began;
	posix_spawn_file_actions_destroy(&actions);
	if (failed != 0)
		probe_no(strerror(failed));
	else if (WIFSIGNALED(status))
		printf("no ended by signal %d\n", WTERMSIG(status));
	else if (status != 0)
		printf("no exit code %d\n", WEXITSTATUS(status));
	else
		printf("ok %.6f %.6f\n", began, children_cpu_ms() - cpu);
}

int main(void)
{
	probe_serve(answer);
	return 0;
}
