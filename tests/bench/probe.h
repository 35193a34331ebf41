/*
 * What the probes share: each answers questions on standard input, one a line, its words parted by
 * tabs, until there are no more. An answer is one line: "ok MILLISECONDS [MILLISECONDS OF CPU]", or
 * "no REASON". The driver (tests/bench/bench) asks, so that one process can be asked in turn with
 * others. A probe of today is also built in an older tree, which it is compared with.
 */
#ifndef TESTS_BENCH_PROBE_H
#define TESTS_BENCH_PROBE_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#define PROBE_WORDS 96
#define PROBE_LINE  16384

static inline double probe_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Of a reason the first line. */
static inline void probe_no(const char *reason)
{
	printf("no %.*s\n", (int)strcspn(reason, "\n"), reason);
}

static inline void probe_ok(double ms)
{
	printf("ok %.6f\n", ms);
}

/* Calls answer with the words of each question, NULL behind the last. */
static inline void probe_serve(void (*answer)(char *const *words, size_t count))
{
	static char line[PROBE_LINE];

	while (fgets(line, sizeof(line), stdin)) {
		char *words[PROBE_WORDS] = { NULL }, *rest = line;
		size_t count = 0;

		line[strcspn(line, "\n")] = '\0';
		while (rest && count < PROBE_WORDS - 1)
			words[count++] = strsep(&rest, "\t");
		answer(words, count);
		fflush(stdout);
	}
}

#endif
