/*
 * What attacks cost us, as figures: what is printed is for people to compare,
 * what is asserted holds on a host as busy as any. TAP.
 *
 * CPU time stands for load: it does not grow with what else the host does.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "tests/unit/test_native.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMEOUTS 50

static struct sandbox *sandbox;
static int number, failed;

static void ok(bool good, const char *name)
{
	failed += !good;
	printf("%sok %d - %s\n", good ? "" : "not ", ++number, name);
	fflush(stdout);
}

/* Milliseconds the keeper has spent on a processor so far. */
static double keeper_cpu_ms(void)
{
	cleanup_free char *path =
		mem_printf("/proc/%ld/schedstat", (long)native_of(sandbox)->keeper);
	FILE *f = fopen(path, "r");
	unsigned long long ns = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return (double)ns / 1e6;
}

static struct sandbox_result run(const char *language, const char *code,
				 const struct sandbox_limits *limits)
{
	struct sandbox_job job = { .language = language_find(language),
				   .code = code,
				   .code_len = strlen(code),
				   .limits = *limits };
	struct sandbox_result result = { .exit_code = -1 };
	struct error err = ERROR_INIT;

	if (sandbox_run(sandbox, &job, NULL, &result, &err) < 0) {
		printf("Bail out! %s\n", err.message);
		exit(1);
	}
	return result;
}

/* --- 15, 16: how long after its limit a run ends --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void time_limits(const char *what, const char *code, int64_t wall_ms, int64_t cpu_ms)
{
	struct sandbox_limits limits;

	sandbox_limits_default(&limits);
	limits.wall_ms = wall_ms;
	limits.cpu_ms = cpu_ms;
	double late[TIMEOUTS];
	for (int i = 0; i < TIMEOUTS; i++) {
		cleanup_sandbox_result struct sandbox_result r = run("bash", code, &limits);

		late[i] = (r.outcome == SANDBOX_TIMEOUT_CPU ?
				   r.metrics.user_ms + r.metrics.system_ms :
				   r.metrics.wall_ms) -
			  (double)(r.outcome == SANDBOX_TIMEOUT_CPU ? cpu_ms : wall_ms);
		if (r.outcome != SANDBOX_TIMEOUT_CPU && r.outcome != SANDBOX_TIMEOUT_WALL)
			late[i] = 1e9;
	}
	qsort(late, TIMEOUTS, sizeof(*late), compare);
	printf("# %s, %d runs: min %.1f, median %.1f, 90%% %.1f, max %.1f ms after the limit\n",
	       what, TIMEOUTS, late[0], late[TIMEOUTS / 2], late[TIMEOUTS * 9 / 10],
	       late[TIMEOUTS - 1]);
	ok(late[0] <= 10 && late[TIMEOUTS - 1] < 1e6, what);
}

/* --- 1, 65: what an attack takes of the host --- */

struct attack {
	const char *name, *code;
	enum sandbox_outcome outcome;
	double our_share; /* of the time, at most, that the keeper computes */
};

static const struct attack attacks[] = {
	{ "1 a fork bomb takes one processor at most where a group limits it, little of it ours",
	  "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
	  SANDBOX_PROCESS_LIMIT, 0.5 },
	{ "65 as many denied calls as four processes can make take little of our time",
	  "import ctypes, os\nlibc = ctypes.CDLL(None)\nos.fork(); os.fork()\n"
	  "while True: libc.unshare(0x10000000)\n",
	  SANDBOX_TIMEOUT_WALL, 0.25 },
};

static void weigh(const struct attack *a)
{
	struct sandbox_limits limits;

	sandbox_limits_default(&limits);
	limits.wall_ms = 2000;
	limits.processes = 32;
	double before = keeper_cpu_ms();
	cleanup_sandbox_result struct sandbox_result r = run("python", a->code, &limits);
	double ours = keeper_cpu_ms() - before;
	double wall = r.metrics.wall_ms;
	double guests = r.metrics.user_ms + r.metrics.system_ms;
	double most = !strcmp(sandbox_fact(&r.isolation, "cpu_limit"), "cgroup") ?
			      1 :
			      (double)sysconf(_SC_NPROCESSORS_ONLN);
	printf("# %s in %.0f ms: the keeper %.1f ms of CPU time (%.1f %%), the run %.0f ms "
	       "(%.0f %%), %lld processes\n",
	       sandbox_outcome_name(r.outcome), wall, ours, ours * 100 / wall, guests,
	       guests * 100 / wall, (long long)r.metrics.peak_pids);
	for (size_t i = 0; i < r.forbidden_count; i++)
		printf("# %s was refused %llu times\n", r.forbidden[i].syscall,
		       (unsigned long long)r.forbidden[i].count);
	ok(r.outcome == a->outcome && ours < wall * a->our_share &&
		   guests < wall * most * 1.1 + 100 && r.metrics.peak_pids <= limits.processes,
	   a->name);
}

/* --- 3: a thousand processes --- */

#define MANY 1000

/* What the same costs without walls: the time the kernel needs to end them. */
static double reap_bare_ms(void)
{
	pid_t children[MANY];
	int begun[2]; /* an exec closes its end: there is an end to read when all sleep */

	if (pipe2(begun, O_CLOEXEC) < 0)
		return -1;
	for (int i = 0; i < MANY; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			execl("/usr/bin/sleep", "sleep", "1000", (char *)NULL);
			_exit(1);
		}
	}
	close(begun[1]);
	char none;
	(void)!read(begun[0], &none, 1);
	close(begun[0]);
	int64_t start_ms = clock_mono_ms();
	for (int i = 0; i < MANY; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	for (int i = 0; i < MANY; i++)
		if (children[i] > 0)
			waitpid(children[i], NULL, 0);
	return (double)(clock_mono_ms() - start_ms);
}

static void reap_thousand(void)
{
	static const char code[] = "for i in {1..1000}; do sleep 1000 & done; echo made";
	struct sandbox_limits limits;
	double best = 1e9, sum = 0, bare;

	sandbox_limits_default(&limits);
	limits.processes = 2000;
	limits.memory_bytes = (int64_t)4 << 30;
	for (int i = 0; i < 5; i++) {
		int64_t start_ms = clock_mono_ms();
		cleanup_sandbox_result struct sandbox_result r = run("bash", code, &limits);
		double ms = (double)(clock_mono_ms() - start_ms) - r.metrics.wall_ms;

		if (r.outcome != SANDBOX_EXIT || r.exit_code != 0)
			printf("# %s: %s\n", sandbox_outcome_name(r.outcome), r.err.bytes);
		best = ms < best ? ms : best;
		sum += ms;
	}
	bare = reap_bare_ms();
	printf("# from the end of the program until its 1000 children were reaped, and all else "
	       "around it: best %.0f, mean %.0f ms of 5; bare %.0f ms\n",
	       best, sum / 5, bare);
	ok(best < 3 * bare + 100, "3 a thousand processes are reaped");
}

int main(void)
{
	struct sandbox_options options = { .cache_dir = getenv("ASSAY_TEST_CACHE") };
	struct error err = ERROR_INIT;

	if (sandbox_open(&sandbox, &options, &err) < 0) {
		printf("Bail out! %s\n", err.message);
		return 1;
	}
	time_limits("16 the wall time of a sleeping program", "sleep 60", 100, 10000);
	time_limits("15 the wall time of a busy program", "while :; do :; done", 100, 10000);
	time_limits("15 the CPU time of a busy program", "while :; do :; done", 60000, 100);
	for (size_t i = 0; i < ARRAY_SIZE(attacks); i++)
		weigh(&attacks[i]);
	reap_thousand();
	sandbox_close(sandbox);
	printf("1..%d\n", number);
	return failed > 0;
}
