/*
 * Control groups: v2, v1 or both, each controller on its own.
 *
 * A group is made below the one we are in (v1) or below the nearest ancestor
 * that hands the controller down (v2; if none does, delegation.c), named after
 * this process and its start time, so that what a dead keeper left can be told
 * from a live one's.
 *
 * Joining: a v1 `tasks` file takes "0" from a single-threaded process without
 * the global lock that makes cgroup.procs wait for an RCU grace period (6 ms
 * after idling, 0.02 ms this way). Only the launcher ever joins; every run is
 * born inside.
 */
#include "sandbox/native/keeper/keeper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX	    "assay-"
#define GROUP_TEXT  8192 /* of the longest of its files that is read */
#define PERIOD_US   10000
#define PERIOD_TEXT "10000" /* short, so that a throttled task dies soon */

struct file_row {
	enum cgroup_file file;
	const char *controller;
	const char *v1, *v2; /* NULL: not there */
	bool writes;
};

static const struct file_row file_rows[] = {
	{ CG_MEMORY_LIMIT, "memory", "memory.limit_in_bytes", "memory.max", true },
	{ CG_SWAP_LIMIT, "memory", "memory.memsw.limit_in_bytes", "memory.swap.max", true },
	{ CG_MEMORY_NOW, "memory", "memory.usage_in_bytes", "memory.current", false },
	{ CG_MEMORY_PEAK, "memory", "memory.max_usage_in_bytes", "memory.peak", true },
	{ CG_MEMORY_EVENTS, "memory", "memory.oom_control", "memory.events", false },
	{ CG_MEMORY_STAT, "memory", "memory.stat", "memory.stat", false },
	{ CG_PIDS_LIMIT, "pids", "pids.max", "pids.max", true },
	{ CG_PIDS_EVENTS, "pids", "pids.events", "pids.events", false },
	{ CG_PIDS_PEAK, "pids", "pids.peak", "pids.peak", false },
	{ CG_PIDS_NOW, "pids", "pids.current", "pids.current", false },
	{ CG_CPU_QUOTA, "cpu", "cpu.cfs_quota_us", "cpu.max", true },
	{ CG_CPU_TOTAL, "cpuacct", "cpuacct.usage", "cpu.stat", false },
	{ CG_CPU_USER, "cpuacct", "cpuacct.usage_user", "cpu.stat", false },
	{ CG_CPU_SYSTEM, "cpuacct", "cpuacct.usage_sys", "cpu.stat", false },
};
#define FILE_ROWS (sizeof(file_rows) / sizeof(file_rows[0]))

/* The start time of a process in clock ticks, 0 when there is none. */
static unsigned long long start_time(long pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	char text[1024];
	if (file_read(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	const char *at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return !at ? 0 : strtoull(at + 1, NULL, 10);
}

/* As /proc sees us, which may be that of another pid namespace: whoever looks
 * for litter there must find us under the name our group has. */
static long own_pid(void)
{
	char text[32];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	if (n <= 0)
		return (long)getpid();
	text[n] = '\0';
	return strtol(text, NULL, 10);
}

/* Removes the groups of keepers that are no more. */
static void remove_litter(int parent)
{
	int fd = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	struct dirent *entry;
	while ((entry = readdir(dir))) {
		if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)))
			continue;
		char *end;
		long pid = strtol(entry->d_name + strlen(PREFIX), &end, 10);
		if (*end == '-' && strtoull(end + 1, NULL, 10) != start_time(pid))
			unlinkat(parent, entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

/* Makes our group in the directory; its descriptor, or -1. A v1 group may have got
 * from the one above that the host's release_agent is started when it is empty. */
static int group_make(struct cgroups *c, const char *path, bool v2)
{
	if (c->count == CGROUP_DIRS_MAX)
		return -1;
	int parent = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent < 0)
		return -1;
	int group = -1, attach = -1;
	if (mkdirat(parent, c->name, 0755) == 0) {
		char name[sizeof(c->name) + 16];

		snprintf(name, sizeof(name), "%s/%s", c->name, v2 ? "cgroup.procs" : "tasks");
		group = openat(parent, c->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		attach = openat(parent, name, O_WRONLY | O_CLOEXEC);
	}
	if (group < 0 || attach < 0) {
		unlinkat(parent, c->name, AT_REMOVEDIR);
		close_all((int[]){ group, attach, parent }, 3);
		return -1;
	}
	if (!v2)
		file_write(group, "notify_on_release", "0");
	c->parents[c->count] = parent;
	c->attach[c->count++] = attach;
	*(v2 ? &c->has_v2 : &c->has_v1) = true;
	return group;
}

static void open_files(struct cgroups *c, int group, const char *controller, bool v2)
{
	for (size_t i = 0; i < FILE_ROWS; i++) {
		const struct file_row *row = &file_rows[i];
		const char *name = v2 ? row->v2 : row->v1;

		if (c->files[row->file] >= 0 || strcmp(row->controller, controller))
			continue;
		int fd = openat(group, name, (row->writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
		if (fd < 0 && row->file == CG_MEMORY_PEAK)
			fd = openat(group, name, O_RDONLY | O_CLOEXEC);
		c->files[row->file] = fd;
		if (fd >= 0 && row->file == CG_SWAP_LIMIT)
			c->swap_v2 = v2;
		if (fd >= 0 && row->file == CG_MEMORY_LIMIT)
			c->memory_v2 = v2;
		if (fd >= 0 && row->file == CG_CPU_QUOTA) {
			c->quota_v2 = v2;
			if (!v2)
				file_write(group, "cpu.cfs_period_us", PERIOD_TEXT);
		}
	}
}

static void open_v1(struct cgroups *c, const struct hierarchy_tables *t)
{
	static const char *const controllers[] = { "memory", "pids", "cpu", "cpuacct" };
	int groups[4] = { -1, -1, -1, -1 };

	for (size_t i = 0; i < 4; i++) {
		struct hierarchy seen[4];
		struct hierarchy h;

		if (!hierarchy_find(t, controllers[i], &h))
			continue;
		seen[i] = h;
		for (size_t j = 0; j < i; j++) /* cpu and cpuacct may be one */
			if (groups[j] >= 0 && !strcmp(seen[j].own, h.own))
				groups[i] = dup(groups[j]);
		if (groups[i] < 0)
			groups[i] = group_make(c, h.own, false);
		if (groups[i] >= 0)
			open_files(c, groups[i], controllers[i], false);
	}
	close_all(groups, 4);
}

/* The group at path hands down memory and pids; with less, only one of them. */
static bool hands_down(const char *path, bool both)
{
	static char text[HIERARCHY_TEXT];
	char control[HIERARCHY_PATH + 32];

	snprintf(control, sizeof(control), "%s/cgroup.subtree_control", path);
	if (file_read(AT_FDCWD, control, text, sizeof(text)) <= 0)
		return false;
	bool memory = hierarchy_list_has(text, strlen(text), "memory");
	bool pids = hierarchy_list_has(text, strlen(text), "pids");
	return both ? memory && pids : memory || pids;
}

/* Walks up to the nearest such group in which we may make one; -1: none. */
static int make_v2(struct cgroups *c, struct hierarchy h, bool both)
{
	for (;;) {
		int group = hands_down(h.own, both) ? group_make(c, h.own, true) : -1;
		char *slash = strrchr(h.own, '/');

		if (group >= 0)
			return group;
		if (!slash || (size_t)(slash - h.own) < h.mount_len)
			return -1;
		*slash = '\0';
	}
}

/* A controller v1 already gave is not asked for. */
static void open_v2(struct cgroups *c, const struct hierarchy_tables *t)
{
	/* cpu.stat is there without any controller. */
	static const char *const controllers[] = { "memory", "pids", "cpu", "cpuacct" };
	struct hierarchy h;

	if (!hierarchy_find(t, "", &h) ||
	    (c->files[CG_MEMORY_LIMIT] >= 0 && c->files[CG_PIDS_LIMIT] >= 0 &&
	     c->files[CG_CPU_TOTAL] >= 0))
		return;
	int group = make_v2(c, h, true);
	if (group < 0)
		group = make_v2(c, h, false);
	if (group < 0 && delegation_take(h.own))
		group = group_make(c, h.own, true);
	if (group < 0)
		return;
	for (size_t i = 0; i < sizeof(controllers) / sizeof(controllers[0]); i++)
		open_files(c, group, controllers[i], true);
	c->kill = openat(group, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	close(group);
}

void cgroups_open(struct cgroups *c)
{
	static struct hierarchy_tables tables;

	*c = (struct cgroups){
		.memory_limit = -1, .pids_limit = -1, .quota_lifted = true, .kill = -1
	};
	for (size_t i = 0; i < CG_FILES; i++)
		c->files[i] = -1;
	long pid = own_pid();
	snprintf(c->name, sizeof(c->name), PREFIX "%ld-%llu", pid, start_time(pid));
	if (!hierarchy_read(&tables))
		return;
	open_v1(c, &tables);
	open_v2(c, &tables);
}

/* Removes what others left; waits for the keeper's end, then for its groups to
 * empty. */
static void janitor_main(const struct cgroups *c, int lifeline)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	prctl(PR_SET_NAME, "assay-janitor");
	for (size_t i = 0; i < c->count; i++)
		remove_litter(c->parents[i]);
	char byte;
	while (read(lifeline, &byte, 1) < 0 && errno == EINTR)
		;
	for (int try = 0; try < 1000; try++) {
		size_t left = 0;

		for (size_t i = 0; i < c->count; i++)
			left += unlinkat(c->parents[i], c->name, AT_REMOVEDIR) < 0 &&
				errno == EBUSY;
		if (left == 0)
			break;
		nanosleep(&pause, NULL);
	}
}

int cgroups_start_janitor(const struct cgroups *c)
{
	if (c->count == 0)
		return 0;
	int lifeline[2];
	if (pipe2(lifeline, O_CLOEXEC) < 0)
		return -1;
	pid_t pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		close(lifeline[1]);
		close(PROTOCOL_FD);
		janitor_main(c, lifeline[0]);
		_exit(0);
	}
	close(lifeline[0]); /* the other end stays open as long as we live */
	return 0;
}

int cgroups_join(const struct cgroups *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (write(c->attach[i], "0", 1) < 0)
			return -1;
	return 0;
}

void cgroups_forget(struct cgroups *c)
{
	close_all(c->files, CG_FILES);
	close_all(c->parents, (size_t)c->count);
	close_all(c->attach, (size_t)c->count);
	close_all(&c->kill, 1);
	c->count = 0;
	c->has_v1 = c->has_v2 = false;
}

static int put(int fd, const char *text)
{
	return pwrite(fd, text, strlen(text), 0) < 0 ? -1 : 0;
}

static int put_number(int fd, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return put(fd, text);
}

static bool read_group(int fd, char ret_text[GROUP_TEXT])
{
	ssize_t n = fd < 0 ? -1 : pread(fd, ret_text, GROUP_TEXT - 1, 0);

	if (n >= 0)
		ret_text[n] = '\0';
	return n >= 0;
}

/* Behind key; where key is NULL, the number that is all of the text. */
static int64_t number_in(const char *text, const char *key)
{
	const char *at = text;

	while (key && at) {
		size_t len = strlen(key);

		if (!strncmp(at, key, len) && at[len] == ' ')
			return strtoll(at + len + 1, NULL, 10);
		at = strchr(at, '\n');
		at = !at ? NULL : at + 1;
	}
	return !at || !isdigit((unsigned char)*at) ? -1 : strtoll(at, NULL, 10);
}

static int64_t get(int fd, const char *key)
{
	char text[GROUP_TEXT];

	return read_group(fd, text) ? number_in(text, key) : -1;
}

/* v1 wants memory <= memory and swap at every moment: write the one that can
 * move first, then the other, then the first again. */
static int try_limit_memory(const struct cgroups *c, int64_t bytes)
{
	int memory = c->files[CG_MEMORY_LIMIT], swap = c->files[CG_SWAP_LIMIT];

	if (swap >= 0 && c->swap_v2) {
		if (put(swap, "0") < 0)
			return -1;
	} else if (swap >= 0) {
		put_number(memory, bytes);
		if (put_number(swap, bytes) < 0)
			return -1;
	}
	return put_number(memory, bytes);
}

/* v2 takes a limit below what is in use, and kills for it: wait a little, for
 * what cannot be reclaimed. What is left after that is cache. */
static void wait_for_memory(const struct cgroups *c, int64_t bytes)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	for (int try = 0; try < 25 && get(c->files[CG_MEMORY_NOW], NULL) > bytes; try++)
		nanosleep(&pause, NULL);
}

/* v1 refuses a limit below what is in use, and what a large run used is freed
 * some milliseconds after its last process. */
static int limit_memory(struct cgroups *c, int64_t bytes)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	if (c->files[CG_MEMORY_LIMIT] < 0 || c->memory_limit == bytes)
		return 0;
	c->memory_limit = -1;
	if (c->memory_v2)
		wait_for_memory(c, bytes);
	for (int try = 0; try_limit_memory(c, bytes) < 0; try++) {
		if (try == 500)
			return -1;
		nanosleep(&pause, NULL);
	}
	c->memory_limit = bytes;
	return 0;
}

/* One CPU. v1 refuses more than a group above us has: then that one holds. */
static int set_quota(struct cgroups *c)
{
	char text[32];

	snprintf(text, sizeof(text), c->quota_v2 ? "%d %d" : "%d", PERIOD_US, PERIOD_US);
	if (put(c->files[CG_CPU_QUOTA], text) < 0 && (c->quota_v2 || errno != EINVAL))
		return -1;
	c->quota_lifted = false;
	return 0;
}

int cgroups_limit(struct cgroups *c, const struct protocol_limits *limits, int64_t extra_bytes)
{
	int64_t pids = limits->processes + 2; /* launcher and init */
	int quota = c->files[CG_CPU_QUOTA];

	if (limit_memory(c, limits->memory_bytes + extra_bytes) < 0)
		return -1;
	/* v2 forgets a peak on demand only since Linux 6.12. */
	c->memory_peak_base = 0;
	if (c->files[CG_MEMORY_PEAK] >= 0 && put(c->files[CG_MEMORY_PEAK], "0") < 0)
		c->memory_peak_base = get(c->files[CG_MEMORY_PEAK], NULL);
	if (c->files[CG_PIDS_LIMIT] >= 0 && c->pids_limit != pids) {
		if (put_number(c->files[CG_PIDS_LIMIT], pids) < 0)
			return -1;
		c->pids_limit = pids;
	}
	if (quota >= 0 && c->quota_lifted && set_quota(c) < 0)
		return -1;
	return 0;
}

void cgroups_lift_quota(struct cgroups *c)
{
	if (c->files[CG_CPU_QUOTA] < 0 || c->quota_lifted)
		return;
	put(c->files[CG_CPU_QUOTA], c->quota_v2 ? "max" : "-1");
	c->quota_lifted = true;
}

void cgroups_stop_forks(struct cgroups *c)
{
	if (c->files[CG_PIDS_LIMIT] >= 0 && c->pids_limit != 0 &&
	    put_number(c->files[CG_PIDS_LIMIT], 0) == 0)
		c->pids_limit = 0;
}

void cgroups_kill(const struct cgroups *c)
{
	if (c->kill >= 0)
		put(c->kill, "1");
}

uint64_t cgroups_oom_kills(const struct cgroups *c)
{
	int64_t n = get(c->files[CG_MEMORY_EVENTS], "oom_kill");

	return n < 0 ? 0 : (uint64_t)n;
}

uint64_t cgroups_pids_refused(const struct cgroups *c)
{
	int64_t n = get(c->files[CG_PIDS_EVENTS], "max");

	return n < 0 ? 0 : (uint64_t)n;
}

int64_t cgroups_memory_peak(const struct cgroups *c)
{
	int64_t peak = get(c->files[CG_MEMORY_PEAK], NULL);

	return peak > c->memory_peak_base ? peak : -1;
}

int64_t cgroups_memory_now(const struct cgroups *c)
{
	return get(c->files[CG_MEMORY_NOW], NULL);
}

int64_t cgroups_read_back(const struct cgroups *c)
{
	int64_t n = get(c->files[CG_MEMORY_STAT], "workingset_refault_file");

	/* Before 5.9 nobody told them from those of swap, which there is none of. */
	return n >= 0 ? n : get(c->files[CG_MEMORY_STAT], "workingset_refault");
}

int64_t cgroups_pids_now(const struct cgroups *c)
{
	return get(c->files[CG_PIDS_NOW], NULL);
}

int64_t cgroups_pids_peak(const struct cgroups *c)
{
	return get(c->files[CG_PIDS_PEAK], NULL);
}

static int64_t get_us(int fd, const char *key)
{
	char text[GROUP_TEXT];

	if (!read_group(fd, text))
		return -1;
	int64_t n = number_in(text, key);
	if (n >= 0)
		return n;
	n = number_in(text, NULL); /* v1: nanoseconds */
	return n < 0 ? -1 : n / 1000;
}

int64_t cgroups_cpu_us(const struct cgroups *c)
{
	return get_us(c->files[CG_CPU_TOTAL], "usage_usec");
}

int cgroups_cpu(const struct cgroups *c, struct cpu_time *ret)
{
	ret->total_us = cgroups_cpu_us(c);
	ret->user_us = get_us(c->files[CG_CPU_USER], "user_usec");
	ret->system_us = get_us(c->files[CG_CPU_SYSTEM], "system_usec");
	return ret->total_us < 0 || ret->user_us < 0 || ret->system_us < 0 ? -1 : 0;
}

int cgroups_cpu_since(const struct cgroups *c, const struct cpu_time *base, struct cpu_time *ret)
{
	if (cgroups_cpu(c, ret) < 0)
		return -1;
	ret->total_us -= base->total_us;
	int64_t user = ret->user_us - base->user_us;
	int64_t system = ret->system_us - base->system_us;
	ret->system_us =
		user + system <= 0 ?
			0 :
			(int64_t)((double)ret->total_us * (double)system / (double)(user + system));
	ret->user_us = ret->total_us - ret->system_us;
	return 0;
}
