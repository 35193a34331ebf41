/*
 * What control groups say: what their files hold, and what that means. A file that is not there, or
 * says something else than a number, is -1 and no guess.
 */
#include "sandbox/native/keeper/cgroup.h"
#include "sandbox/native/keeper/keeper.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CGROUP_TEXT 8192 /* of the longest of its files that is read */

static bool read_group(int fd, char ret_text[CGROUP_TEXT])
{
	ssize_t n = fd < 0 ? -1 : pread(fd, ret_text, CGROUP_TEXT - 1, 0);

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

int64_t cgroup_get(int fd, const char *key)
{
	char text[CGROUP_TEXT];

	return read_group(fd, text) ? number_in(text, key) : -1;
}

uint64_t cgroups_oom_kills(const struct cgroups *c)
{
	int64_t n = cgroup_get(c->files[CG_MEMORY_EVENTS], "oom_kill");

	return n < 0 ? 0 : (uint64_t)n;
}

uint64_t cgroups_pids_refused(const struct cgroups *c)
{
	int64_t n = cgroup_get(c->files[CG_PIDS_EVENTS], "max");

	return n < 0 ? 0 : (uint64_t)n;
}

int64_t cgroups_memory_peak(const struct cgroups *c)
{
	int64_t peak = cgroup_get(c->files[CG_MEMORY_PEAK], NULL);

	return peak > c->memory_peak_base ? peak : -1;
}

int64_t cgroups_memory_now(const struct cgroups *c)
{
	return cgroup_get(c->files[CG_MEMORY_NOW], NULL);
}

int64_t cgroups_read_back(const struct cgroups *c)
{
	int64_t n = cgroup_get(c->files[CG_MEMORY_STAT], "workingset_refault_file");

	/* Before 5.9 nobody told them from those of swap, which there is none of. */
	return n >= 0 ? n : cgroup_get(c->files[CG_MEMORY_STAT], "workingset_refault");
}

int64_t cgroups_pids_now(const struct cgroups *c)
{
	return cgroup_get(c->files[CG_PIDS_NOW], NULL);
}

int64_t cgroups_pids_peak(const struct cgroups *c)
{
	return cgroup_get(c->files[CG_PIDS_PEAK], NULL);
}

static int64_t get_us(int fd, const char *key)
{
	char text[CGROUP_TEXT];

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
