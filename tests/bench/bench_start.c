/*
 * What it costs to start assay at all: an empty program linked to nothing but
 * libc, one linked to the libraries assay is linked to (this one), and the
 * commands that do nothing else. Round-robin; wall and processor time.
 *
 *	bench_start [ITERATIONS]	default 500
 */
#include "tests/bench/bench.h"

struct row {
	const char *name;
	const char *argv[4];
	double *times;
	double cpu_ms;
};

static void measure(struct row *rows, size_t count, int iterations)
{
	for (int n = 0; n < iterations; n++)
		for (size_t i = 0; i < count; i++) {
			double before = bench_children_cpu_ms();

			rows[i].times[n] = bench_spawn(rows[i].argv);
			rows[i].cpu_ms += bench_children_cpu_ms() - before;
		}
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 500;
	struct row rows[] = {
		{ "/bin/true", { "/bin/true" }, NULL, 0 },
		{ "empty, linked alike", { argv[0], "--empty" }, NULL, 0 },
		{ "assay --version", { bench_assay(), "--version" }, NULL, 0 },
		{ "assay exec --help", { bench_assay(), "exec", "--help" }, NULL, 0 },
	};

	if (argc > 1 && strcmp(argv[1], "--empty") == 0)
		return 0;
	if (iterations < 1)
		return 2;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i].times = mem_array(NULL, (size_t)iterations, sizeof(double));
	measure(rows, ARRAY_SIZE(rows), iterations);
	printf("start to end, %d rounds, ms\n  %-20s %8s %8s %8s %8s\n", iterations, "", "min",
	       "median", "p99", "CPU");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		bench_print(rows[i].name, rows[i].times, iterations);
		printf(" %8.2f\n", rows[i].cpu_ms / iterations);
		free(rows[i].times);
	}
	return 0;
}
