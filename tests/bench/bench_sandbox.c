/*
 * What isolation costs: the same programs bare, in assay's sandbox, through
 * `assay exec`, and in other sandboxes that are installed here. One process,
 * round-robin, so that whatever else the machine does hits all alike.
 *
 *	bench_sandbox [ITERATIONS [PROGRAM]]	default 200, all
 *
 * Printed in milliseconds, with the ratio of the medians to the bare program.
 */
#include "tests/bench/bench.h"

#include "base/json.h"
#include "tests/unit/test_native.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGS	    48
#define SLOW_MS	    100 /* a runner beyond this is run in every tenth round */
#define SLOW_STRIDE 10
#define IDLE_MS	    60

/* --- programs --- */

struct program {
	const char *name;
	const char *argv[8];
	const char *file; /* for assay exec; NULL: no language of its own */
	const char *text; /* in it */
};

static const struct program programs[] = {
	{ "true", { "/bin/true" }, NULL, NULL },
	{ "bash", { "/usr/bin/bash", "-c", ":" }, "bench.sh", ":\n" },
	{ "python -I -S", { "/usr/bin/python3", "-I", "-S", "-c", "print(1)" }, NULL, NULL },
	{ "python",
	  { "/usr/bin/python3", "-s", "-B", "-c", "print(1)" },
	  "bench.py",
	  "print(1)\n" },
	{ "node", { "/usr/bin/node", "-e", "0" }, "bench.js", "0\n" },
};

/* --- runners --- */

struct runner {
	const char *name;
	const char *prefix[ARGS]; /* found in PATH by its first word; none for our own */
	double (*run)(const struct runner *r, const struct program *p);
	const char *package; /* of Debian, to say what is missing; NULL: not in it */
};

static struct sandbox *sandbox;
static const char *work; /* folder of the files */

static double run_command(const struct runner *r, const struct program *p)
{
	const char *argv[BENCH_ARGS] = { NULL };
	size_t n = 0;

	for (; r->prefix[n] != NULL; n++)
		argv[n] = r->prefix[n];
	for (size_t i = 0; i < ARRAY_SIZE(p->argv) && p->argv[i] != NULL; i++)
		argv[n++] = p->argv[i];
	return bench_spawn(argv);
}

static double run_exec(const struct runner *r, const struct program *p)
{
	const char *argv[] = { bench_assay(), "exec", "-q", NULL, NULL };

	(void)r;
	if (p->file == NULL)
		return -1;
	cleanup_free char *path = mem_printf("%s/%s", work, p->file);
	argv[3] = path;
	return bench_spawn(argv);
}

/* As the loop does, but for the interpreter, which is the program itself. */
static double run_sandbox(const struct runner *r, const struct program *p)
{
	cleanup_sandbox_result struct sandbox_result result = { .exit_code = -1 };
	const struct language language = { .name = p->name,
					   .flags = p->argv + 1,
					   .file = "program" };
	struct sandbox_job job = { .language = &language, .code = "", .code_len = 0 };
	struct error err = ERROR_INIT;
	double start = bench_now_ms();

	(void)r;
	sandbox_limits_default(&job.limits);
	if (run_bare(native_of(sandbox), &job, p->argv[0], NULL, &result, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	return result.outcome == SANDBOX_EXIT && result.exit_code == 0 ? bench_now_ms() - start :
									 -1;
}

/* A bundle as the OCI runtime specification has it, with the namespaces of the others and the
 * same root: written once for each program. */
static void write_bundle(const char *folder, const struct program *p)
{
	static const char config[] =
		"{\"ociVersion\":\"1.0.0\",\"process\":{\"terminal\":false,\"cwd\":\"/\","
		"\"user\":{\"uid\":65534,\"gid\":65534},\"noNewPrivileges\":true,"
		"\"env\":[\"PATH=/usr/bin\"],\"args\":%s},\"hostname\":\"assay\","
		"\"root\":{\"path\":\"rootfs\",\"readonly\":true},\"mounts\":["
		"{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"},"
		"{\"destination\":\"/dev\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"},"
		"{\"destination\":\"/tmp\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"},"
		"{\"destination\":\"/work\",\"type\":\"tmpfs\",\"source\":\"tmpfs\"},"
		"{\"destination\":\"/usr\",\"source\":\"/usr\",\"options\":[\"bind\",\"ro\"]},"
		"{\"destination\":\"/etc\",\"source\":\"/etc\",\"options\":[\"bind\",\"ro\"]}],"
		"\"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"},"
		"{\"type\":\"network\"},{\"type\":\"ipc\"},{\"type\":\"uts\"}]}}";
	static const char *const links[][2] = {
		{ "usr/bin", "bin" },
		{ "usr/lib", "lib" },
		{ "usr/lib64", "lib64" },
	};
	static const char *const folders[] = {
		"", "/proc", "/dev", "/tmp", "/work", "/usr", "/etc"
	};
	cleanup_free char *root = mem_printf("%s/rootfs", folder);
	cleanup_free char *path = mem_printf("%s/config.json", folder);
	cleanup_json struct json *args = json_array();
	cleanup_free char *text = NULL;
	FILE *f;

	if (mkdir(folder, 0755) < 0)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		cleanup_free char *sub = mem_printf("%s%s", root, folders[i]);

		mkdir(sub, 0755);
	}
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		cleanup_free char *link = mem_printf("%s/%s", root, links[i][1]);

		if (symlink(links[i][0], link) < 0)
			return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(p->argv) && p->argv[i] != NULL; i++)
		json_append(args, json_new_string(p->argv[i]));
	text = json_print(args);
	f = fopen(path, "w");
	if (f == NULL)
		return;
	fprintf(f, config, text);
	fclose(f);
}

static double run_oci(const struct runner *r, const struct program *p)
{
	static unsigned runs;
	cleanup_free char *id = mem_printf("assay-bench-%d-%u", (int)getpid(), runs++);
	cleanup_free char *bundle = mem_printf("%s/bundle-%td", work, p - programs);
	cleanup_free char *state = mem_printf("--root=%s/state", work);
	const char *argv[BENCH_ARGS] = { NULL };
	size_t n = 0;

	write_bundle(bundle, p);
	for (; r->prefix[n] != NULL; n++)
		argv[n] = r->prefix[n];
	argv[n++] = state;
	argv[n++] = "run";
	argv[n++] = "--bundle";
	argv[n++] = bundle;
	argv[n++] = id;
	return bench_spawn(argv);
}

static const struct runner runners[] = {
	{ "bare", { NULL }, run_command, NULL },
	{ "assay, as the loop", { NULL }, run_sandbox, NULL },
	{ "assay exec", { NULL }, run_exec, NULL },
	{ "bubblewrap",
	  { "bwrap",
	    "--unshare-all",
	    "--die-with-parent",
	    "--new-session",
	    "--ro-bind",
	    "/usr",
	    "/usr",
	    "--symlink",
	    "usr/bin",
	    "/bin",
	    "--symlink",
	    "usr/lib",
	    "/lib",
	    "--symlink",
	    "usr/lib64",
	    "/lib64",
	    "--ro-bind",
	    "/etc/ld.so.cache",
	    "/etc/ld.so.cache",
	    "--proc",
	    "/proc",
	    "--dev",
	    "/dev",
	    "--tmpfs",
	    "/tmp",
	    "--tmpfs",
	    "/work",
	    "--tmpfs",
	    "/out",
	    "--chdir",
	    "/work",
	    "--clearenv",
	    "--hostname",
	    "assay",
	    NULL },
	  run_command,
	  "bubblewrap" },
	{ "unshare",
	  { "unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount", "--net", "--ipc",
	    "--uts", "--cgroup", "--mount-proc", NULL },
	  run_command,
	  "util-linux" },
	{ "firejail",
	  { "firejail", "--quiet", "--noprofile", "--private", "--net=none", NULL },
	  run_command,
	  "firejail" },
	{ "runc", { "runc", NULL }, run_oci, "runc" },
	{ "crun", { "crun", "--cgroup-manager=disabled", NULL }, run_oci, "crun" },
	{ "gVisor", { "runsc", "--network=none", NULL }, run_oci, "runsc" },
	{ "systemd-nspawn",
	  { "systemd-nspawn", "-q", "-D", "/", "--volatile=yes", NULL },
	  run_command,
	  "systemd-container" },
	{ "nsjail",
	  { "nsjail", "-Mo", "-Q", "-R", "/usr", "-R", "/bin", "-R", "/lib", "-R", "/lib64", "--",
	    NULL },
	  run_command,
	  NULL },
	{ "minijail",
	  { "minijail0", "-U", "-v", "-p", "-l", "-e", "-n", "--uts", "-N", "--", NULL },
	  run_command,
	  NULL },
	{ "isolate", { "isolate", "--run", "--", NULL }, run_command, NULL },
};
#define RUNNERS ARRAY_SIZE(runners)

/* --- figures --- */

static void print_row(const char *name, double *times, int count, double *bare)
{
	double median = bench_print(name, times, count);

	if (*bare == 0)
		*bare = median;
	printf(" %8.2f %7.2f\n", median - *bare, median / *bare);
}

/* Two untimed runs, the first of them cold, tell who runs here at all, and who is slow: every
 * how many rounds each is run; 0: not here. */
static void find_runners(const struct program *p, int *ret_strides)
{
	for (size_t i = 0; i < RUNNERS; i++) {
		double took = runners[i].run(&runners[i], p);

		if (took >= 0)
			took = runners[i].run(&runners[i], p);
		ret_strides[i] = took < 0 ? 0 : took > SLOW_MS ? SLOW_STRIDE : 1;
	}
}

static void print_missing(const int *strides)
{
	for (size_t i = 0; i < RUNNERS; i++)
		if (strides[i] == 0 && runners[i].prefix[0] != NULL)
			printf("  %-20s does not run here (%s%s)\n", runners[i].name,
			       runners[i].package != NULL ? "Debian has " : "nor is it in Debian",
			       runners[i].package != NULL ? runners[i].package : "");
}

static void print_all(double *times, const int *counts, int iterations)
{
	double bare = 0;

	for (size_t i = 0; i < RUNNERS; i++)
		if (counts[i] > 0)
			print_row(runners[i].name, times + i * (size_t)iterations, counts[i],
				  &bare);
	fflush(stdout);
}

static void measure(const struct program *p, int iterations, int idle_ms)
{
	double *times = mem_array(NULL, RUNNERS * (size_t)iterations, sizeof(*times));
	int strides[RUNNERS], counts[RUNNERS] = { 0 };

	find_runners(p, strides);
	if (strides[0] == 0) {
		printf("%s is not here\n", p->name);
		free(times);
		return;
	}
	printf("%s, %s, %d rounds\n  %-20s %8s %8s %8s %8s %7s\n", p->name,
	       idle_ms > 0 ? "after 60 ms idle" : "back to back", iterations, "", "min", "median",
	       "p99", "over", "ratio");
	for (int n = 0; n < iterations; n++)
		for (size_t i = 0; i < RUNNERS; i++) {
			if (strides[i] == 0 || n % strides[i] != 0)
				continue;
			if (idle_ms > 0)
				usleep((useconds_t)idle_ms * 1000);
			times[i * (size_t)iterations + (size_t)counts[i]++] =
				runners[i].run(&runners[i], p);
		}
	print_all(times, counts, iterations);
	if (idle_ms == 0)
		print_missing(strides);
	free(times);
}

/* --- set-up --- */

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
	static char folder[] = "/tmp/assay-bench-XXXXXX", home[PATH_MAX];
	cleanup_free char *assay = mem_strdup(bench_assay());
	struct error err = ERROR_INIT;

	work = mkdtemp(folder);
	snprintf(home, sizeof(home), "%s/home", folder);
	/* The same for all: node reads certificates when a variable says so. */
	clearenv();
	setenv("ASSAY", assay, 1);
	setenv("PATH", "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin", 1);
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
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (argc < 3 || strcmp(argv[2], programs[i].name) == 0) {
			measure(&programs[i], iterations, 0);
			measure(&programs[i], iterations, IDLE_MS);
		}
	sandbox_close(sandbox);
	cleanup_free char *command = mem_printf("rm -rf '%s'", work);
	return system(command) != 0;
}
