/*
 * Many runs leave nothing behind: descriptors, memory, processes, mounts and
 * control groups of ours and the keeper's are the same after as before. TAP.
 *
 *	soak [RUNS]	default 300
 *
 * Each run leaves what it can: orphans, files, links, shared memory, denied
 * calls; every tenth is killed at a limit.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "tests/unit/test_asleep.h"
#include "tests/unit/test_native.h"
#include "sandbox/native/connection.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WARM_UP	    50
#define PATIENCE_MS 60000

struct state {
	long our_fds, keeper_fds, our_kb, keeper_kb, processes, keeper_mounts, mounts, groups;
};

static int number, failed;

static long count_lines(const char *command)
{
	FILE *f = popen(command, "r");
	long n = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &n) != 1)
		n = -1;
	pclose(f);
	return n;
}

/* A number, out of a shell command with the process's id in its middle. */
static long ask(const char *head, long pid, const char *tail)
{
	cleanup_free char *command = mem_printf("%s%ld%s", head, pid, tail);

	return count_lines(command);
}

/* By ourselves: while a child of popen() counts, the pipe to it may be open or
 * half closed. */
static long count_our_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	long n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* -1 where this user may not look: the same before and after. */
static struct state look(const struct sandbox *s)
{
	long us = (long)getpid(), keeper = (long)native_of(s)->keeper;

	return (struct state){
		.our_fds = count_our_fds(),
		.keeper_fds = ask("ls /proc/", keeper, "/fd 2>/dev/null | wc -l"),
		.our_kb = ask("awk '/^VmRSS/{print $2}' /proc/", us, "/status"),
		.keeper_kb = ask("awk '/^VmRSS/{print $2}' /proc/", keeper, "/status"),
		.processes = ask("pgrep -c -P ", keeper, ""),
		.keeper_mounts = ask("wc -l 2>/dev/null </proc/", keeper, "/mountinfo"),
		.mounts = count_lines("wc -l </proc/self/mountinfo"),
		.groups =
			ask("find /sys/fs/cgroup -name 'assay-", keeper, "-*' 2>/dev/null | wc -l"),
	};
}

static bool is_more(const struct state *now, const struct state *before)
{
	return now->keeper_fds > before->keeper_fds || now->processes > before->processes ||
	       now->groups > before->groups;
}

/* The keeper closes a run's when it has told the result: until it does nothing more, and no look
 * sees less than the one before it. */
static struct state look_at_rest(const struct sandbox *s)
{
	struct state was;

	until_asleep(native_of(s)->keeper);
	struct state now = look(s);
	do {
		was = now;
		now = look(s);
	} while (is_more(&was, &now));
	return now;
}

/* A busy machine may take longer for it. */
static struct state look_again(const struct sandbox *s, const struct state *before)
{
	const int64_t deadline_ms = clock_mono_ms() + PATIENCE_MS;
	struct state now = look(s);

	while (is_more(&now, before) && clock_mono_ms() < deadline_ms)
		now = look(s);
	return now;
}

static void check(const char *what, long before, long after, long may_grow)
{
	bool good = after <= before + may_grow;

	printf("%sok %d - %s: %ld before, %ld after\n", good ? "" : "not ", ++number, what, before,
	       after);
	failed += !good;
}

static const char code[] =
	"(trap '' TERM; setsid sleep 60) & sleep 60 &\n"
	"echo x >/out/x; ln -s /etc/passwd /out/l; mkfifo /tmp/p; echo y >/dev/shm/y\n"
	"{ exec 9<>/dev/tcp/127.0.0.1/1; } 2>/dev/null\n"
	"[ \"$1\" = hang ] && sleep 60\n"
	"exit 3\n";

static bool run(struct sandbox *s, bool hang)
{
	static const char *const argv[] = { "hang", NULL };
	cleanup_sandbox_result struct sandbox_result r = { .exit_code = -1 };
	struct sandbox_job job = { .language = language_find("bash"),
				   .code = code,
				   .code_len = sizeof(code) - 1,
				   .argv = hang ? argv : NULL };
	struct error err = ERROR_INIT;

	sandbox_limits_default(&job.limits);
	job.limits.wall_ms = hang ? 20 : 10000;
	if (sandbox_run(s, &job, NULL, &r, &err) < 0) {
		printf("# %s\n", err.message);
		return false;
	}
	return r.outcome == (hang ? SANDBOX_TIMEOUT_WALL : SANDBOX_EXIT);
}

int main(int argc, char **argv)
{
	long runs = argc > 1 ? atol(argv[1]) : 300, good = 0;
	struct sandbox *s;
	struct error err = ERROR_INIT;

	if (sandbox_open(&s, NULL, &err) < 0 || connection_open(native_of(s), &err) < 0) {
		printf("Bail out! %s\n", err.message);
		return 1;
	}
	for (int i = 0; i < WARM_UP; i++)
		run(s, i % 10 == 9);
	struct state before = look_at_rest(s);
	int64_t start = clock_mono_ms();
	for (long i = 0; i < runs; i++)
		good += run(s, i % 10 == 9);
	printf("# %ld runs in %lld ms\n", runs, (long long)(clock_mono_ms() - start));
	struct state after = look_again(s, &before);
	check("runs that did not end as they should", 0, runs - good, 0);
	check("our descriptors", before.our_fds, after.our_fds, 0);
	check("the keeper's descriptors", before.keeper_fds, after.keeper_fds, 0);
	check("our memory in KiB", before.our_kb, after.our_kb, 1024);
	check("the keeper's memory in KiB", before.keeper_kb, after.keeper_kb, 256);
	check("the keeper's memory is below 4 MiB", 0, after.keeper_kb, 4096);
	check("processes below the keeper", before.processes, after.processes, 0);
	check("mounts of the keeper", before.keeper_mounts, after.keeper_mounts, 0);
	check("mounts of the host", before.mounts, after.mounts, 0);
	check("control groups", before.groups, after.groups, 0);
	printf("1..%d\n", number);
	sandbox_close(s);
	return failed > 0;
}
