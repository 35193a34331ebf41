/*
 * Control groups on hosts that are not this one. They are trees of files, but in one test, which
 * may change groups of its own alone.
 */
#include "tests/unit/test_sandbox_cgroup_tree.h"

#include <signal.h>
#include <sys/wait.h>

/* --- where we are --- */

static void test_paths(void **state)
{
	char expected[256];

	(void)state;
	snprintf(expected, sizeof(expected), "%s/u/a/b", top);
	set_tables("1:name=systemd:/x\n0::/a/b\n", mount_line("/", "u", "cgroup2 cgroup2 rw"));
	struct hierarchy h;
	assert_true(hierarchy_find(&tables, "", &h));
	assert_string_equal(h.own, expected);
	/* a container sees a part of the tree, mounted as if it were the root */
	set_tables("0::/pod/x/b\n", mount_line("/pod/x", "u", "cgroup2 cgroup rw"));
	assert_true(hierarchy_find(&tables, "", &h));
	snprintf(expected, sizeof(expected), "%s/u/b", top);
	assert_string_equal(h.own, expected);
	/* a name that only begins alike is another group */
	set_tables("0::/podium/b\n", mount_line("/pod", "u", "cgroup2 cgroup rw"));
	assert_true(hierarchy_find(&tables, "", &h));
	snprintf(expected, sizeof(expected), "%s/u", top);
	assert_string_equal(h.own, expected);
	/* cpu and cpuacct in one hierarchy; "cpu" is not "cpuset" */
	set_tables("3:cpuset:/s\n2:cpu,cpuacct:/c\n",
		   mount_line("/", "v", "cgroup cgroup rw,cpu,cpuacct"));
	assert_true(hierarchy_find(&tables, "cpuacct", &h));
	assert_true(hierarchy_find(&tables, "cpu", &h));
	assert_false(hierarchy_find(&tables, "cpuset", &h));
	assert_false(hierarchy_find(&tables, "", &h));
	assert_false(hierarchy_find(&tables, "memory", &h));
}

static void test_odd_tables(void **state)
{
	struct hierarchy h;

	(void)state;
	set_tables("", "");
	assert_false(hierarchy_find(&tables, "", &h));
	set_tables("0::/\ngarbage\n::\n", "garbage\n - \n1 2 3\n - cgroup2\n");
	assert_false(hierarchy_find(&tables, "", &h));
	char long_line[4096];
	/* an overlay with many layers comes first */
	memset(long_line, 'x', sizeof(long_line) - 2);
	long_line[sizeof(long_line) - 2] = '\n';
	long_line[sizeof(long_line) - 1] = '\0';
	set_tables("0::/\n", long_line);
	strcat(tables.mounts, mount_line("/", "u", "cgroup2 cgroup2 rw"));
	assert_true(hierarchy_find(&tables, "", &h));
}

/* --- v2 --- */

/* systemd-run --user --scope: our own group has processes and hands nothing
 * down; the slice above does and is ours. */
static void test_v2_walks_up(void **state)
{
	(void)state;
	make_v2_group("u/user/app/run.scope", "");
	make_v2_group("u/user/app", "cpu memory pids\n");
	make_v2_group("u/user", "cpu memory pids\n");
	make_v2_group("u", "cpu memory pids io\n");
	struct cgroups c = open_v2_from("/user/app/run.scope");
	assert_true(has_group("u/user/app"));
	assert_false(has_group("u/user/app/run.scope"));
	assert_false(has_group("u/user"));
	assert_true(c.has_v2 && !c.has_v1 && c.memory_v2 && c.swap_v2 && c.quota_v2);
	for (size_t i = 0; i < CG_FILES; i++)
		assert_true(c.files[i] >= 0);
	struct cpu_time cpu;
	assert_int_equal(cgroups_cpu(&c, &cpu), 0);
	assert_true(cpu.total_us == 30 && cpu.user_us == 20 && cpu.system_us == 10);
	cgroups_forget(&c);
	assert_int_equal(c.files[CG_MEMORY_LIMIT], -1);
}

/* What ticks saw says only how to divide what was measured. */
static void test_cpu_time(void **state)
{
	static const struct {
		const char *stat;
		int64_t user_us, system_us;
	} rows[] = {
		{ "usage_usec 130\nuser_usec 70\nsystem_usec 50\n", 60, 40 },
		{ "usage_usec 130\nuser_usec 170\nsystem_usec 10\n", 100, 0 },
		{ "usage_usec 130\nuser_usec 130\nsystem_usec 50\n", 75, 25 },
		{ "usage_usec 130\nuser_usec 10\nsystem_usec 10\n", 100, 0 },
	};
	const struct cpu_time base = { .total_us = 30, .user_us = 10, .system_us = 10 };

	(void)state;
	make_group("u", "cgroup.subtree_control", "cpu memory pids\n");
	set_tables("0::/\n", mount_line("/", "u", "cgroup2 cgroup2 rw"));
	struct cgroups c = open_fake();
	char group[128];
	snprintf(group, sizeof(group), "u/%s", c.name);
	struct cpu_time since;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		make_group(group, "cpu.stat", rows[i].stat);
		assert_int_equal(cgroups_cpu_since(&c, &base, &since), 0);
		assert_int_equal(since.total_us, 100);
		assert_int_equal(since.user_us, rows[i].user_us);
		assert_int_equal(since.system_us, rows[i].system_us);
	}
	cgroups_forget(&c);
	assert_int_equal(cgroups_cpu_us(&c), -1);
	assert_int_equal(cgroups_cpu_since(&c, &base, &since), -1);
}

/* Each file is read once, however it says its number. */
static void test_cpu_time_of_v1(void **state)
{
	static const char *const texts[] = { "3000000\n", "2000000\n", "1000000\n" };
	static const int files[] = { CG_CPU_TOTAL, CG_CPU_USER, CG_CPU_SYSTEM };
	struct cgroups c = { .has_v1 = true };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char name[16];
		int dir = open(top, O_PATH | O_DIRECTORY | O_CLOEXEC);

		snprintf(name, sizeof(name), "usage-%zu", i);
		put_file(dir, name, texts[i]);
		c.files[files[i]] = openat(dir, name, O_RDONLY | O_CLOEXEC);
		unlinkat(dir, name, 0);
		close(dir);
	}
	reads = 0;
	struct cpu_time cpu;
	assert_int_equal(cgroups_cpu(&c, &cpu), 0);
	assert_int_equal(reads, 3);
	assert_true(cpu.total_us == 3000 && cpu.user_us == 2000 && cpu.system_us == 1000);
	for (size_t i = 0; i < 3; i++)
		close(c.files[files[i]]);
}

static void test_v2_prefers_both(void **state)
{
	(void)state;
	make_v2_group("u/a/b", "pids\n");
	make_v2_group("u/a", "memory pids\n");
	make_v2_group("u", "memory pids\n");
	struct cgroups c = open_v2_from("/a/b");
	assert_true(has_group("u/a"));
	assert_true(c.files[CG_MEMORY_LIMIT] >= 0 && c.files[CG_PIDS_LIMIT] >= 0);
	assert_true(c.files[CG_CPU_QUOTA] < 0);	 /* not handed down */
	assert_true(c.files[CG_CPU_TOTAL] >= 0); /* needs no controller */
	cgroups_forget(&c);
}

static void test_v2_takes_one(void **state)
{
	(void)state;
	make_v2_group("u/a", "pids\n");
	make_v2_group("u", "memory pids\n");
	make_group("u", "deny", "");
	struct cgroups c = open_v2_from("/a");
	assert_true(has_group("u/a"));
	assert_true(c.files[CG_MEMORY_LIMIT] < 0 && c.files[CG_PIDS_LIMIT] >= 0);
	cgroups_forget(&c);
}

static void test_v2_not_ours(void **state)
{
	(void)state;
	make_v2_group("u/a", "memory pids\n");
	make_group("u/a", "deny", "");
	make_v2_group("u", "memory pids\n");
	make_group("u", "deny", "");
	struct cgroups c = open_v2_from("/a");
	assert_int_equal(c.count, 0);
	assert_false(c.has_v1 || c.has_v2);
	assert_int_equal(cgroups_join(&c), 0);
	assert_int_equal(cgroups_limit(&c, &(struct protocol_limits){ .memory_bytes = 1 }, 0), 0);
	assert_int_equal(cgroups_oom_kills(&c), 0);
	assert_int_equal(cgroups_memory_peak(&c), -1);
}

/* systemd-run --scope -p Delegate=yes by the system's manager: the scope is ours
 * and full of us, the slice above it is not. */
static void make_scope(void)
{
	make_v2_group("u/s/run.scope", "");
	make_group("u/s/run.scope", "cgroup.controllers", "cpu memory pids\n");
	make_group("u/s/run.scope", "cgroup.procs", "41\n42\n");
	make_v2_group("u/s", "cpu memory pids\n");
	make_group("u/s", "deny", "");
	make_v2_group("u", "cpu memory pids\n");
	make_group("u", "deny", "");
	set_v2("/s/run.scope");
}

static void read_file(const char *path, char *ret, size_t size)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", top, path);
	assert_true(file_read(AT_FDCWD, full, ret, size) >= 0);
}

static void test_v2_delegated_scope(void **state)
{
	(void)state;
	us = getuid() != 0 ? getuid() : 1000;
	make_scope();
	char path[512];
	snprintf(path, sizeof(path), "%s/u/s/run.scope", top);
	assert_int_equal(getuid() == 0 ? chown(path, us, us) : 0, 0);
	struct cgroups c = open_fake();
	assert_true(has_group("u/s/run.scope"));
	assert_true(c.has_v2 && c.files[CG_MEMORY_LIMIT] >= 0 && c.files[CG_PIDS_LIMIT] >= 0 &&
		    c.files[CG_CPU_QUOTA] >= 0);
	char text[64];
	read_file("u/s/run.scope/cgroup.procs", text, sizeof(text));
	assert_string_equal(text, "");
	read_file("u/s/run.scope/" LEAF "/cgroup.procs", text, sizeof(text));
	assert_string_equal(text, "4142"); /* one write each */
	read_file("u/s/run.scope/cgroup.subtree_control", text, sizeof(text));
	assert_string_equal(text, "memory pids cpu ");
	cgroups_forget(&c);
	/* The next keeper is born in the leaf and finds the scope above. */
	set_v2("/s/run.scope/" LEAF);
	assert_int_equal(rmdir_group("u/s/run.scope/assay-1-1"), 0);
	c = open_fake();
	assert_true(has_group("u/s/run.scope"));
	cgroups_forget(&c);
}

/* Root may write everywhere: what is not marked as delegated stays as it is. */
static void test_v2_not_delegated(void **state)
{
	(void)state;
	us = 0;
	make_scope();
	struct cgroups c = open_fake();
	assert_int_equal(c.count, 0);
	char text[64];
	read_file("u/s/run.scope/cgroup.procs", text, sizeof(text));
	assert_string_equal(text, "41\n42\n");
}

/* --- a real v2 tree, where there is one: even without controllers --- */

static int open_real_group(char *ret_path, size_t size)
{
	static struct hierarchy_tables real;
	struct hierarchy h;

	if (!hierarchy_read(&real) || !hierarchy_find(&real, "", &h))
		return -1;
	h.own[h.mount_len] = '\0';
	snprintf(ret_path, size, "%s/assay-test-%ld", h.own, (long)getpid());
	if (mkdir(ret_path, 0755) < 0)
		return -1;
	return open(ret_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static pid_t start_in(int group)
{
	pid_t pid = fork();
	char text[32];

	assert_true(pid >= 0);
	if (pid == 0)
		for (;;)
			pause();
	snprintf(text, sizeof(text), "%ld", (long)pid);
	assert_int_equal(file_write(group, "cgroup.procs", text), 0);
	return pid;
}

static void test_real_v2(void **state)
{
	char path[600];
	int group = open_real_group(path, sizeof(path)), leaf, status;
	struct cgroups c = { .kill = -1 };

	(void)state;
	if (group < 0) {
		print_message("skipped: no control groups of version 2 that are ours to change\n");
		skip();
	}
	is_real = true;
	pid_t pids[2];
	for (size_t i = 0; i < 2; i++)
		pids[i] = start_in(group);
	assert_true(empty_into_leaf(group));
	char text[256];
	assert_int_equal(file_read(group, "cgroup.procs", text, sizeof(text)), 0);
	leaf = openat(group, LEAF, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(file_read(leaf, "cgroup.procs", text, sizeof(text)) > 0);
	c.kill = openat(leaf, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	cgroups_kill(&c);
	for (size_t i = 0; c.kill < 0 && i < 2; i++)
		kill(pids[i], SIGKILL); /* before 5.14 */
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(WTERMSIG(status), SIGKILL);
	}
	assert_true(file_read(group, "cgroup.events", text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "populated 0"));
	assert_int_equal(unlinkat(group, LEAF, AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(path), 0);
	close_all((int[]){ c.kill, leaf, group }, 3);
	is_real = false;
}

/* v1 memory beside a v2 tree with the rest; an empty v2 tree adds nothing. */
static void test_hybrid(void **state)
{
	(void)state;
	make_group("m/me", "v1", "memory");
	make_v2_group("u", "pids\n");
	char mounts[2048];
	snprintf(mounts, sizeof(mounts), "%s", mount_line("/", "m", "cgroup cgroup rw,memory"));
	strcat(mounts, mount_line("/", "u", "cgroup2 cgroup2 rw"));
	set_tables("4:memory:/me\n0::/\n", mounts);
	struct cgroups c = open_fake();
	assert_true(c.has_v1 && c.has_v2 && !c.memory_v2);
	assert_true(has_group("m/me") && has_group("u"));
	assert_true(c.files[CG_MEMORY_LIMIT] >= 0 && c.files[CG_PIDS_LIMIT] >= 0);
	cgroups_forget(&c);
	make_v2_group("u", "");
	c = open_fake(); /* the name is taken in both: nothing to be had */
	assert_int_equal(c.count, 0);
}

/* --- what is written --- */

static void read_back(const struct cgroups *c, enum cgroup_file file, char *ret, size_t size)
{
	ssize_t n = pread(c->files[file], ret, size - 1, 0);

	ret[n < 0 ? 0 : n] = '\0';
}

static void test_v2_limits(void **state)
{
	const struct protocol_limits limits = { .memory_bytes = 1 << 26, .processes = 10 };

	(void)state;
	make_v2_group("u", "cpu memory pids\n");
	struct cgroups c = open_v2_from("/");
	assert_int_equal(cgroups_limit(&c, &limits, 4096), 0);
	char text[64];
	read_back(&c, CG_MEMORY_LIMIT, text, sizeof(text));
	assert_int_equal(atoll(text), (1 << 26) + 4096);
	read_back(&c, CG_SWAP_LIMIT, text, sizeof(text));
	assert_int_equal(atoll(text), 0);
	read_back(&c, CG_PIDS_LIMIT, text, sizeof(text));
	assert_int_equal(atoll(text), 12);
	read_back(&c, CG_CPU_QUOTA, text, sizeof(text));
	assert_string_equal(text, "10000 10000");
	cgroups_lift_quota(&c);
	read_back(&c, CG_CPU_QUOTA, text, sizeof(text));
	assert_int_equal(strncmp(text, "max", 3), 0);
	cgroups_forget(&c);
}

static void test_counters(void **state)
{
	(void)state;
	make_v2_group("u", "memory pids\n");
	struct cgroups c = open_v2_from("/");
	put_file(c.parents[0], "assay-1-1/memory.events",
		 "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n");
	put_file(c.parents[0], "assay-1-1/pids.events", "max 5\n");
	put_file(c.parents[0], "assay-1-1/memory.peak", "8192\n");
	assert_int_equal(cgroups_oom_kills(&c), 2);
	assert_int_equal(cgroups_pids_refused(&c), 5);
	assert_int_equal(cgroups_memory_peak(&c), 8192);
	/* before Linux 6.12 nothing resets it: an old peak is not this run's */
	c.memory_peak_base = 8192;
	assert_int_equal(cgroups_memory_peak(&c), -1);
	cgroups_forget(&c);
}

int main(void)
{
	const struct CMUnitTest sandbox_cgroup_tests[] = {
		cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_odd_tables, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_walks_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cpu_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cpu_time_of_v1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_prefers_both, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_takes_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_not_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_delegated_scope, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_not_delegated, set_up, tear_down),
		cmocka_unit_test(test_real_v2),
		cmocka_unit_test_setup_teardown(test_hybrid, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_v2_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_counters, set_up, tear_down),
	};

	return cmocka_run_group_tests_name("sandbox_cgroup", sandbox_cgroup_tests, NULL, NULL);
}
