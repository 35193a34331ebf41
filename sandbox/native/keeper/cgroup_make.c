/*
 * Control groups are made: v2, v1 or both, each controller on its own.
 *
 * A group is made below the one we are in (v1) or below the nearest ancestor that hands the
 * controller down (v2; if none does, delegation.c), named after this process and its start time, so
 * that what a dead keeper left can be told from a live one's. Only the launcher ever joins; every
 * run is born inside. No group of anybody else's is changed.
 */
#include "sandbox/native/keeper/cgroup.h"
#include "sandbox/native/keeper/delegation.h"
#include "sandbox/native/keeper/hierarchy.h"
#include "sandbox/native/keeper/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
				file_write(group, "cpu.cfs_period_us", CGROUP_PERIOD_TEXT);
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
	snprintf(c->name, sizeof(c->name), CGROUP_PREFIX "%ld-%llu", pid, cgroup_start_time(pid));
	if (!hierarchy_read(&tables))
		return;
	open_v1(c, &tables);
	open_v2(c, &tables);
}

/* A v1 `tasks` file takes "0" from a single-threaded process without the global lock that makes
 * cgroup.procs wait for an RCU grace period (6 ms after idling, 0.02 ms this way). */
int cgroups_join(const struct cgroups *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (write(c->attach[i], "0", 1) < 0)
			return -1;
	return 0;
}
