/* What the benchmarks with a table of their own share: times in milliseconds, and how they are
 * printed. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static inline int bench_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts times and prints minimum, median and 99th percentile; the median. */
static inline double bench_print(const char *name, double *times, int count)
{
	qsort(times, (size_t)count, sizeof(*times), bench_compare);
	double median = times[count / 2];
	printf("  %-20s %8.2f %8.2f %8.2f", name, times[0], median, times[count - 1 - count / 100]);
	return median;
}

#endif
