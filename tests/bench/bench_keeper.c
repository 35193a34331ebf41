/*
 * The keeper's own figures: how soon it is ready and how much memory it takes,
 * how late it kills, how long a thousand processes take to go.
 *
 *	bench_keeper [ITERATIONS]	default 200
 */
#include "tests/bench/bench.h"

#include "sandbox/native/connection.h"
#include "tests/unit/test_native.h"

#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 100
#define PROCESSES  1000
#define PAUSE_US   5000 /* for what the last one left to the kernel */

static double *array(int count)
{
	return mem_array(NULL, (size_t)count, sizeof(double));
}

static void finish(const char *name, double *times, int count)
{
	bench_print(name, times, count);
	printf("\n");
	fflush(stdout);
	free(times);
}

static void start(int iterations)
{
	double *opened = array(iterations), *ready = array(iterations);
	struct error err = ERROR_INIT;

	for (int n = 0; n < iterations; n++) {
		struct sandbox *s;
		double begin = bench_now_ms();

		if (sandbox_open(&s, NULL, &err) < 0)
			break;
		opened[n] = bench_now_ms() - begin;
		connection_open(native_of(s), &err);
		ready[n] = bench_now_ms() - begin;
		sandbox_close(s);
		usleep(PAUSE_US);
	}
	finish("sandbox_open", opened, iterations);
	finish("until it is ready", ready, iterations);
}

/* Anonymous and file pages of a process, in KiB. */
static long resident_kib(pid_t pid)
{
	cleanup_free char *path = mem_printf("/proc/%d/status", (int)pid);
	FILE *f = fopen(path, "r");
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

struct watched {
	double last_output_ms;
};

static void on_output(void *self, bool is_stderr, const char *bytes, size_t len)
{
	struct watched *w = self;

	(void)is_stderr;
	(void)bytes;
	if (len > 0)
		w->last_output_ms = bench_now_ms();
}

static int run(struct sandbox *s, const char *code, int64_t wall_ms, struct watched *watched,
	       enum sandbox_outcome wanted)
{
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	struct sandbox_watch watch = { .output = on_output, .self = watched, .cancel_fd = -1 };
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = code,
				   .code_len = strlen(code) };
	struct error err = ERROR_INIT;

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = wall_ms;
	job.limits.processes = PROCESSES + 100;
	job.limits.memory_bytes = (int64_t)2 << 30;
	if (sandbox_run(s, &job, &watch, &result, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	if (result.outcome != wanted)
		fprintf(stderr, "%s: %s\n", sandbox_outcome_name(result.outcome), result.detail);
	return result.outcome == wanted ? 0 : -1;
}

/* From the limit to the result, all of it: the kill, the reaping, the report. */
static int timeouts(struct sandbox *s, int iterations)
{
	double *late = array(iterations);

	for (int n = 0; n < iterations; n++) {
		struct watched w;
		double begin = bench_now_ms();

		if (run(s, "sleep 10", TIMEOUT_MS, &w, SANDBOX_TIMEOUT_WALL) < 0)
			return -1;
		late[n] = bench_now_ms() - begin - TIMEOUT_MS;
	}
	finish("a timeout, over", late, iterations);
	return 0;
}

/* The guest says that its processes are there, and ends: from then to the result. */
static int reap(struct sandbox *s, int iterations)
{
	static const char code[] =
		"for ((i = 0; i < 1000; i++)); do sleep 100 & done\necho there\n";
	double *times = array(iterations);

	for (int n = 0; n < iterations; n++) {
		struct watched w = { .last_output_ms = 0 };

		if (run(s, code, 60000, &w, SANDBOX_EXIT) < 0)
			return -1;
		times[n] = bench_now_ms() - w.last_output_ms;
	}
	finish("1000 processes gone", times, iterations);
	return 0;
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 200, rc;
	struct error err = ERROR_INIT;

	if (iterations < 1)
		return 2;
	printf("the keeper, %d rounds, ms\n  %-20s %8s %8s %8s\n", iterations, "", "min", "median",
	       "p99");
	start(iterations);
	struct sandbox *s;
	struct watched w;
	if (sandbox_open(&s, NULL, &err) < 0 || run(s, ":", 10000, &w, SANDBOX_EXIT) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	rc = timeouts(s, iterations < 50 ? iterations : 50);
	rc = rc < 0 ? rc : reap(s, iterations < 10 ? iterations : 10);
	printf("  resident: %ld KiB\n", resident_kib(native_of(s)->keeper));
	sandbox_close(s);
	return rc < 0;
}
