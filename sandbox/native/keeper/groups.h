/*
 * The control groups of a keeper: made (cgroup_make.c), limited, read and removed in a file each.
 * As in all of the keeper, functions return 0 or -1 with errno.
 */
#ifndef SANDBOX_KEEPER_GROUPS_H
#define SANDBOX_KEEPER_GROUPS_H

#include "sandbox/native/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cgroup_file {
	CG_MEMORY_LIMIT,
	CG_SWAP_LIMIT,
	CG_MEMORY_NOW,
	CG_MEMORY_PEAK,
	CG_MEMORY_EVENTS,
	CG_MEMORY_STAT,
	CG_PIDS_LIMIT,
	CG_PIDS_EVENTS,
	CG_PIDS_PEAK,
	CG_PIDS_NOW,
	CG_CPU_QUOTA,
	CG_CPU_TOTAL,
	CG_CPU_USER,
	CG_CPU_SYSTEM,
	CG_FILES,
};

#define CGROUP_DIRS_MAX 4

/*
 * The keeper's groups: one per hierarchy. Files are opened while we may still
 * be root and used through their descriptors ever after; -1 where the
 * controller is not to be had.
 */
struct cgroups {
	int files[CG_FILES];
	int parents[CGROUP_DIRS_MAX]; /* directory the group was made in */
	int attach[CGROUP_DIRS_MAX];  /* a process writes "0" to join */
	size_t count;
	int kill;			  /* cgroup.kill of v2; -1: none */
	char name[64];			  /* of the group, in each parent */
	bool has_v1, has_v2;		  /* of those in use */
	bool memory_v2;			  /* a limit below what is in use kills */
	bool swap_v2;			  /* CG_SWAP_LIMIT counts swap alone */
	int64_t memory_peak_base;	  /* a peak nothing could reset; 0: none */
	int64_t memory_limit, pids_limit; /* last written; -1: none */
	bool quota_v2, quota_lifted;
};

void cgroups_open(struct cgroups *c);
/* Starts the process that removes the groups when this one is gone. */
int cgroups_start_janitor(const struct cgroups *c);
int cgroups_join(const struct cgroups *c);
/* Goes on without any; the janitor still removes them. */
void cgroups_forget(struct cgroups *c);
int cgroups_limit(struct cgroups *c, const struct protocol_limits *limits, int64_t extra_bytes);
void cgroups_lift_quota(struct cgroups *c); /* so that killed tasks can die */
void cgroups_stop_forks(struct cgroups *c); /* till limits are set again */
void cgroups_kill(const struct cgroups *c); /* all in the group, launcher included */
uint64_t cgroups_oom_kills(const struct cgroups *c);
uint64_t cgroups_pids_refused(const struct cgroups *c);
/* Of this run, -1 where nobody counts or an earlier run's hides it. */
int64_t cgroups_memory_peak(const struct cgroups *c);
int64_t cgroups_memory_now(const struct cgroups *c);
/* Pages of files that were taken from the group and read again; -1: not told. */
int64_t cgroups_read_back(const struct cgroups *c);
/* Processes now, and the most there were since the group was made: nothing
 * resets that. -1 where nobody counts. */
int64_t cgroups_pids_now(const struct cgroups *c);
int64_t cgroups_pids_peak(const struct cgroups *c);

/* CPU time in microseconds. The scheduler measures the total; v1 samples the
 * division at every tick, which overcounts a group with a quota by a third: it
 * runs when a period begins, as the ticks do. */
struct cpu_time {
	int64_t total_us, user_us, system_us;
};
/* So far; -1: nobody counts. */
int64_t cgroups_cpu_us(const struct cgroups *c);
int cgroups_cpu(const struct cgroups *c, struct cpu_time *ret);
/* Since base: divided as the samples say, in sum what was measured. */
int cgroups_cpu_since(const struct cgroups *c, const struct cpu_time *base, struct cpu_time *ret);

#endif
