/* What the files about control groups have in common; groups.h is for all others. */
#ifndef SANDBOX_KEEPER_CGROUP_H
#define SANDBOX_KEEPER_CGROUP_H

#include <stdint.h>

#define CGROUP_PREFIX	   "assay-" /* of the name of each group of a keeper: PREFIX PID "-" START */
#define CGROUP_PERIOD_US   10000    /* of the quota: short, so that a throttled task dies soon */
#define CGROUP_PERIOD_TEXT "10000"

/* When a process began, in clock ticks; 0: there is none. */
unsigned long long cgroup_start_time(long pid);
int cgroup_put(int fd, const char *text);
int cgroup_put_number(int fd, int64_t value);
/* The number behind a key; where key is NULL, the one that is all of the text; -1: there is none.
 */
int64_t cgroup_get(int fd, const char *key);

#endif
