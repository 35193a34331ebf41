/* What the benchmarks share: times in milliseconds, and how they are printed. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "base/mem.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static inline double bench_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

#define BENCH_ARGS 64

/* A program from start to end, its output thrown away; below 0 when it failed. */
static inline double bench_spawn(const char *const *argv)
{
	extern char **environ;
	char *args[BENCH_ARGS] = { NULL };
	posix_spawn_file_actions_t actions;
	double start = bench_now_ms();
	int status = -1;
	pid_t pid;

	for (size_t i = 0; i < BENCH_ARGS - 1 && argv[i] != NULL; i++)
		memcpy(&args[i], &argv[i], sizeof(args[i]));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, args[0], &actions, NULL, args, environ) == 0)
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? bench_now_ms() - start : -1;
}

/* Of all children waited for so far. */
static inline double bench_children_cpu_ms(void)
{
	struct rusage use;

	getrusage(RUSAGE_CHILDREN, &use);
	return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
	       (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts times and prints minimum, median and 99th percentile; the median. */
static inline double bench_print(const char *name, double *times, int count)
{
	double median;

	qsort(times, (size_t)count, sizeof(*times), bench_compare);
	median = times[count / 2];
	printf("  %-20s %8.2f %8.2f %8.2f", name, times[0], median, times[count - 1 - count / 100]);
	return median;
}

/* The program that is measured. */
static inline const char *bench_assay(void)
{
	const char *path = getenv("ASSAY");

	return path != NULL ? path : "build/assay";
}

#endif
