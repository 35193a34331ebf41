/*
 * What isolation costs: the same programs bare, in assay's sandbox, through
 * `assay exec`, and in other sandboxes that are installed here. One process,
 * round-robin, so that whatever else the machine does hits all alike.
 *
 *	bench_sandbox [ITERATIONS [PROGRAM]]	default 200, all
 *
 * Printed in milliseconds, with the ratio of the medians to the bare program.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "sandbox/internal.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS 48
#define IDLE_MS 60

/* --- programs --- */

struct program {
	const char *name;
	const char *argv[8];
	const char *file;	/* for assay exec; NULL: no language of its own */
	const char *text;	/* in it */
};

static const struct program programs[] = {
	{ "true", { "/bin/true" }, NULL, NULL },
	{ "bash", { "/usr/bin/bash", "-c", ":" }, "bench.sh", ":\n" },
	{ "python -I -S", { "/usr/bin/python3", "-I", "-S", "-c", "print(1)" }, NULL, NULL },
	{ "python", { "/usr/bin/python3", "-s", "-B", "-c", "print(1)" }, "bench.py",
	  "print(1)\n" },
	{ "node", { "/usr/bin/node", "-e", "0" }, "bench.js", "0\n" },
};

/* --- runners --- */

struct runner {
	const char *name;
	const char *prefix[ARGS];	/* found in PATH by its first word; none for our own */
	double (*run)(const struct runner *r, const struct program *p);
};

static struct sandbox *sandbox;
static const char *work;	/* folder of the files */
static const char *assay;

static double now_ms(void)
{
	return (double)clock_mono_us() / 1000;
}

/* Milliseconds, or below 0 when it failed. */
static double spawn(const char *const *argv)
{
	extern char **environ;
	posix_spawn_file_actions_t actions;
	double start = now_ms();
	char *args[ARGS + 8];
	int status = -1;
	pid_t pid;

	memcpy(args, argv, sizeof(args));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawnp(&pid, args[0], &actions, NULL, args, environ) == 0)
		waitpid(pid, &status, 0);
	posix_spawn_file_actions_destroy(&actions);
	return status == 0 ? now_ms() - start : -1;
}

static double run_command(const struct runner *r, const struct program *p)
{
	const char *argv[ARGS + 8] = { NULL };
	size_t n = 0;

	for (; r->prefix[n] != NULL; n++)
		argv[n] = r->prefix[n];
	for (size_t i = 0; i < ARRAY_SIZE(p->argv) && p->argv[i] != NULL; i++)
		argv[n++] = p->argv[i];
	return spawn(argv);
}

static double run_exec(const struct runner *r, const struct program *p)
{
	const char *argv[ARGS + 8] = { assay, "exec", "-q", NULL };

	(void)r;
	if (p->file == NULL)
		return -1;
	cleanup_free char *path = mem_printf("%s/%s", work, p->file);
	argv[3] = path;
	return spawn(argv);
}

/* As the loop does, but for the interpreter, which is the program itself. */
static double run_sandbox(const struct runner *r, const struct program *p)
{
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	const struct language language = { .name = p->name, .flags = p->argv + 1,
					   .file = "program" };
	struct sandbox_job job = { .language = &language, .code = "", .code_len = 0 };
	struct error err = ERROR_INIT;
	double start = now_ms();

	(void)r;
	sandbox_limits_default(&job.limits);
	if (run_bare(sandbox, &job, p->argv[0], NULL, &result, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	return result.outcome == SANDBOX_EXIT && result.exit_code == 0 ? now_ms() - start : -1;
}

static const struct runner runners[] = {
	{ "bare", { NULL }, run_command },
	{ "assay, as the loop", { NULL }, run_sandbox },
	{ "assay exec", { NULL }, run_exec },
	{ "bubblewrap", { "bwrap", "--unshare-all", "--die-with-parent", "--new-session",
	  "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib",
	  "/lib", "--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc/ld.so.cache",
	  "/etc/ld.so.cache", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs",
	  "/work", "--tmpfs", "/out", "--chdir", "/work", "--clearenv", "--hostname", "assay",
	  NULL }, run_command },
	{ "unshare", { "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount",
	  "--net", "--ipc", "--uts", "--cgroup", "--mount-proc", NULL }, run_command },
	{ "firejail", { "firejail", "--quiet", "--noprofile", "--private", "--net=none", NULL },
	  run_command },
	{ "nsjail", { "nsjail", "-Mo", "-Q", "-R", "/usr", "-R", "/bin", "-R", "/lib", "-R",
	  "/lib64", "--", NULL }, run_command },
	{ "minijail", { "minijail0", "-U", "-v", "-p", "-l", "-e", "-n", "--uts", "-N", "--",
	  NULL }, run_command },
	{ "isolate", { "isolate", "--run", "--", NULL }, run_command },
};
#define RUNNERS ARRAY_SIZE(runners)

/* --- figures --- */

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Prints minimum, median and 99th percentile; the median. */
static double print_times(const char *name, double *times, int count)
{
	double median;

	qsort(times, (size_t)count, sizeof(*times), compare);
	median = times[count / 2];
	printf("  %-20s %8.2f %8.2f %8.2f", name, times[0], median,
	       times[count - 1 - count / 100]);
	return median;
}

static void print_row(const char *name, double *times, int count, double *bare)
{
	double median = print_times(name, times, count);

	if (*bare == 0)
		*bare = median;
	printf(" %8.2f %7.2f\n", median - *bare, median / *bare);
}

/* One untimed round tells who runs here at all. */
static size_t find_runners(const struct program *p, bool *ret_runs)
{
	size_t count = 0;

	for (size_t i = 0; i < RUNNERS; i++) {
		ret_runs[i] = runners[i].run(&runners[i], p) >= 0;
		count += ret_runs[i];
	}
	return count;
}

static void measure(const struct program *p, int iterations, int idle_ms)
{
	double *times = mem_array(NULL, RUNNERS * (size_t)iterations, sizeof(*times));
	bool runs[RUNNERS];
	double bare = 0;

	if (find_runners(p, runs) > 0 && runs[0])
		printf("%s, %s, %d rounds\n  %-20s %8s %8s %8s %8s %7s\n", p->name,
		       idle_ms > 0 ? "after 60 ms idle" : "back to back", iterations, "", "min",
		       "median", "p99", "over", "ratio");
	for (int n = 0; n < iterations; n++)
		for (size_t i = 0; i < RUNNERS; i++) {
			if (!runs[i])
				continue;
			if (idle_ms > 0)
				usleep((useconds_t)idle_ms * 1000);
			times[i * (size_t)iterations + (size_t)n] =
				runners[i].run(&runners[i], p);
		}
	for (size_t i = 0; i < RUNNERS && runs[0]; i++)
		if (runs[i])
			print_row(runners[i].name, times + i * (size_t)iterations, iterations,
				  &bare);
	fflush(stdout);
	free(times);
}

/* --- the keeper's own figures --- */

static void measure_start(int iterations)
{
	double *opened = mem_array(NULL, (size_t)iterations, sizeof(*opened));
	double *ready = mem_array(NULL, (size_t)iterations, sizeof(*ready));
	struct error err = ERROR_INIT;

	for (int n = 0; n < iterations; n++) {
		struct sandbox *s;
		double start = now_ms();

		if (sandbox_open(&s, NULL, &err) < 0)
			break;
		opened[n] = now_ms() - start;
		connection_open(s, &err);
		ready[n] = now_ms() - start;
		sandbox_close(s);
		usleep(5000);
	}
	printf("the keeper, %d rounds\n", iterations);
	print_times("sandbox_open", opened, iterations);
	printf("\n");
	print_times("until it is ready", ready, iterations);
	printf("\n");
	free(opened);
	free(ready);
}

static void write_files(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (programs[i].file == NULL)
			continue;
		cleanup_free char *path = mem_printf("%s/%s", work, programs[i].file);
		FILE *f = fopen(path, "w");

		if (f == NULL)
			continue;
		fputs(programs[i].text, f);
		fclose(f);
	}
}

static void set_up(void)
{
	static char folder[] = "/tmp/assay-bench-XXXXXX", home[PATH_MAX], program[PATH_MAX];
	struct error err = ERROR_INIT;

	snprintf(program, sizeof(program), "%s", getenv("ASSAY") ? getenv("ASSAY") : "build/assay");
	assay = program;
	work = mkdtemp(folder);
	snprintf(home, sizeof(home), "%s/home", folder);
	/* The same for all: node reads certificates when a variable says so. */
	clearenv();
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	setenv("HOME", home, 1);
	write_files();
	if (sandbox_open(&sandbox, NULL, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 200;

	if (iterations < 1)
		return 2;
	set_up();
	measure_start(iterations);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (argc < 3 || strcmp(argv[2], programs[i].name) == 0) {
			measure(&programs[i], iterations, 0);
			measure(&programs[i], iterations, IDLE_MS);
		}
	sandbox_close(sandbox);
	cleanup_free char *command = mem_printf("rm -rf '%s'", work);
	return system(command) != 0;
}
