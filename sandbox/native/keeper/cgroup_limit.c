/*
 * Limits are written to control groups, and what ends all in one. A limit that could not be written
 * is an error, never a run without it.
 */
#include "sandbox/native/keeper/cgroup.h"
#include "sandbox/native/keeper/keeper.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int cgroup_put(int fd, const char *text)
{
	return pwrite(fd, text, strlen(text), 0) < 0 ? -1 : 0;
}

int cgroup_put_number(int fd, int64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	return cgroup_put(fd, text);
}

/* v1 wants memory <= memory and swap at every moment: write the one that can
 * move first, then the other, then the first again. */
static int try_limit_memory(const struct cgroups *c, int64_t bytes)
{
	int memory = c->files[CG_MEMORY_LIMIT], swap = c->files[CG_SWAP_LIMIT];

	if (swap >= 0 && c->swap_v2) {
		if (cgroup_put(swap, "0") < 0)
			return -1;
	} else if (swap >= 0) {
		cgroup_put_number(memory, bytes);
		if (cgroup_put_number(swap, bytes) < 0)
			return -1;
	}
	return cgroup_put_number(memory, bytes);
}

/* v2 takes a limit below what is in use, and kills for it: wait a little, for
 * what cannot be reclaimed. What is left after that is cache. */
static void wait_for_memory(const struct cgroups *c, int64_t bytes)
{
	const struct timespec pause = { .tv_nsec = 2000000 };

	for (int try = 0; try < 25 && cgroup_get(c->files[CG_MEMORY_NOW], NULL) > bytes; try++)
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

	snprintf(text, sizeof(text), c->quota_v2 ? "%d %d" : "%d", CGROUP_PERIOD_US,
		 CGROUP_PERIOD_US);
	if (cgroup_put(c->files[CG_CPU_QUOTA], text) < 0 && (c->quota_v2 || errno != EINVAL))
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
	if (c->files[CG_MEMORY_PEAK] >= 0 && cgroup_put(c->files[CG_MEMORY_PEAK], "0") < 0)
		c->memory_peak_base = cgroup_get(c->files[CG_MEMORY_PEAK], NULL);
	if (c->files[CG_PIDS_LIMIT] >= 0 && c->pids_limit != pids) {
		if (cgroup_put_number(c->files[CG_PIDS_LIMIT], pids) < 0)
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
	cgroup_put(c->files[CG_CPU_QUOTA], c->quota_v2 ? "max" : "-1");
	c->quota_lifted = true;
}

void cgroups_stop_forks(struct cgroups *c)
{
	if (c->files[CG_PIDS_LIMIT] >= 0 && c->pids_limit != 0 &&
	    cgroup_put_number(c->files[CG_PIDS_LIMIT], 0) == 0)
		c->pids_limit = 0;
}

void cgroups_kill(const struct cgroups *c)
{
	if (c->kill >= 0)
		cgroup_put(c->kill, "1");
}
