/*
 * What a follow-up costs in a context: print(len(x)) in a copy of a state, from the job to its
 * result, beside what the kernel takes for a fork of that size, by a process of the same state
 * in the same walls; what is left of it is of ours.
 *
 *	bench_context [COPIES [MIB]]	default 30 1024
 */
#include "tests/bench/bench.h"

#include "base/mem.h"
#include "sandbox/sandbox.h"
#include "verifier/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sandbox *sandbox;
static char id[32], from[32];
static int runs;

/* In a copy of the state in from, unless that is empty. */
static int run_cell(const char *code, struct sandbox_result *ret, struct error *err)
{
	struct tests t = { .mode = TESTS_CELL };
	struct sandbox_job job = { .language = language_find("python"),
				   .code = code,
				   .code_len = strlen(code),
				   .id = id,
				   .state_from = *from ? from : NULL,
				   .rebuilds = true };

	snprintf(id, sizeof(id), "RUN/%d", ++runs);
	sandbox_limits_default(&job.limits);
	job.limits.memory_bytes = (int64_t)6 << 30;
	job.limits.wall_ms = job.limits.cpu_ms = 60000;
	*ret = (struct sandbox_result){ .exit_code = -1 };
	int status = tests_prepare(&t, job.language, "", 0, &job, err) < 0 ||
				     sandbox_run(sandbox, &job, NULL, ret, err) < 0 ?
			     -1 :
			     0;
	tests_release(&t);
	return status;
}

static bool has_state(const char *what, const char *code)
{
	cleanup_sandbox_result struct sandbox_result r;
	struct error err = ERROR_INIT;

	*from = '\0';
	if (run_cell(code, &r, &err) == 0 && r.outcome == SANDBOX_EXIT && r.exit_code == 0 &&
	    !strcmp(sandbox_fact(&r.isolation, "held"), "yes")) {
		snprintf(from, sizeof(from), "%s", id);
		return true;
	}
	printf("%-40s not measured: %s %s\n", what, err.message,
	       sandbox_fact(&r.isolation, "held"));
	return false;
}

static const char fork_text[] = "import os, time\n"
				"wall, cpu = [], []\n"
				"for n in range(20):\n"
				"    start = time.perf_counter(), time.process_time()\n"
				"    pid = os.fork()\n"
				"    if pid == 0: os._exit(0)\n"
				"    wall.append(time.perf_counter() - start[0])\n"
				"    cpu.append(time.process_time() - start[1])\n"
				"    os.waitpid(pid, 0)\n"
				"for name, t in ('', wall), (', CPU', cpu):\n"
				"    t.sort()\n"
				"    print(f'  {\"a fork\" + name:<20} {t[0] * 1e3:8.2f} '\n"
				"          f'{t[10] * 1e3:8.2f} {t[-1] * 1e3:8.2f}')\n"
				"raise SystemExit(1)\n";

/* The least of a line of fork_text; 0: there is none. */
static double least_of(const char *printed, const char *name)
{
	const char *line = strstr(printed, name);
	double least = 0;

	return line && sscanf(line + strlen(name), "%lf", &least) == 1 ? least : 0;
}

/* wall, cpu: the least of the cells that were measured. */
static void measure_forks(double wall, double cpu)
{
	cleanup_sandbox_result struct sandbox_result forks = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	if (run_cell(fork_text, &forks, &err) < 0 ||
	    strcmp(sandbox_fact(&forks.isolation, "state"), "forked") || !forks.out.len) {
		printf("\n  a fork: not measured: %s state %s, %s\n", err.message,
		       sandbox_fact(&forks.isolation, "state"),
		       sandbox_outcome_name(forks.outcome));
		return;
	}
	printf("\n%s  %-20s %8.2f\n  %-20s %8.2f\n", forks.out.bytes, "of ours",
	       wall - least_of(forks.out.bytes, "a fork "), "of ours, CPU",
	       cpu - least_of(forks.out.bytes, "a fork, CPU"));
}

static void measure_state(const char *what, const char *state, int copies)
{
	double *wall = mem_array(NULL, (size_t)copies, sizeof(*wall));
	struct error err = ERROR_INIT;
	double *cpu = mem_array(NULL, (size_t)copies, sizeof(*cpu));
	int done = 0;

	if (!has_state(what, state)) {
		free(wall);
		free(cpu);
		return;
	}
	for (int n = 0; n < copies; n++) {
		cleanup_sandbox_result struct sandbox_result r;
		double start = bench_now_ms();

		if (run_cell("print(len(x))", &r, &err) < 0 ||
		    strcmp(sandbox_fact(&r.isolation, "state"), "forked"))
			break;
		wall[done] = bench_now_ms() - start;
		cpu[done++] = r.metrics.user_ms + r.metrics.system_ms;
		snprintf(from, sizeof(from), "%s", id); /* as in a conversation */
	}
	if (done > 0) {
		printf("print(len(x)) over %s\n", what);
		bench_print("from job to result", wall, done);
		printf("\n");
		bench_print("CPU time inside", cpu, done);
		measure_forks(wall[0], cpu[0]);
	}
	free(wall);
	free(cpu);
}

/* In a sandbox of its own, whose memory no other state takes. */
static void measure(const char *what, const char *state, int copies)
{
	const struct sandbox_options options = { .states = 8 };
	struct error err = ERROR_INIT;

	if (sandbox_open(&sandbox, &options, &err) < 0) {
		printf("%-40s not measured: %s\n", what, err.message);
		return;
	}
	measure_state(what, state, copies);
	sandbox_close(sandbox);
}

int main(int argc, char **argv)
{
	int copies = argc > 1 ? atoi(argv[1]) : 30, mib = argc > 2 ? atoi(argv[2]) : 1024;
	char state[400];

	measure("nothing", "x = [1]", copies);
	snprintf(state, sizeof(state), "x = b'1' * (%d << 20)", mib);
	measure("bytes", state, copies);
	snprintf(state, sizeof(state), "x = list(range(%d << 14))", mib); /* 40 bytes and 8 each */
	measure("a list of numbers", state, copies);
	snprintf(state, sizeof(state),
		 "import numpy, pandas\n"
		 "x = pandas.DataFrame({'a': numpy.ones(%d << 16), 'b': numpy.ones(%d << 16)})",
		 mib, mib);
	measure("a table", state, copies);
	return 0;
}
