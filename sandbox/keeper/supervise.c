/*
 * Counting the processes of a run where no control group does: through the
 * /proc of its pid namespace, which shows exactly them.
 *
 * Resident sizes are summed first (cheap, and too high by what is shared); only
 * when that passes the limit are the proportional sizes read. Memory no map
 * shows (memfd, System V shm) is refused by the filter in this case.
 */
#include "sandbox/keeper/keeper.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

struct dirent64_raw {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static int64_t field_kb(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at == NULL ? 0 : strtoll(at + strlen(key), NULL, 10);
}

static int64_t resident(int proc, const char *pid)
{
	char path[64], text[256];
	const char *second;

	snprintf(path, sizeof(path), "%s/statm", pid);
	if (file_read(proc, path, text, sizeof(text)) <= 0 || (second = strchr(text, ' ')) == NULL)
		return 0;
	return strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE);
}

/* Anonymous and shared memory by its share; file pages are the kernel's. */
static int64_t proportional(int proc, const char *pid)
{
	char path[64], text[2048];

	snprintf(path, sizeof(path), "%s/smaps_rollup", pid);
	if (file_read(proc, path, text, sizeof(text)) <= 0)
		return 0;
	return (field_kb(text, "\nPss_Anon:") + field_kb(text, "\nPss_Shmem:")) * 1024;
}

/* Its own CPU time and that of the children it waited for; threads add to the
 * count of processes, as they do at the limit. */
static void add_times(int proc, const char *pid, struct usage *u)
{
	char path[64], text[1024];
	unsigned long long times[4];
	const char *at;
	long threads, tick = sysconf(_SC_CLK_TCK);

	snprintf(path, sizeof(path), "%s/stat", pid);
	if (file_read(proc, path, text, sizeof(text)) <= 0)
		return;
	at = strrchr(text, ')');
	if (at == NULL || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu "
				 "%llu %llu %*d %*d %ld", &times[0], &times[1], &times[2],
				 &times[3], &threads) != 5)
		return;
	u->pids += threads;
	u->cpu_us += (int64_t)(times[0] + times[1] + times[2] + times[3]) * 1000000 / tick;
}

static int count(int proc, int64_t (*memory)(int, const char *), bool times, struct usage *u)
{
	char buffer[8192] __attribute__((aligned(8)));
	long n;

	if (lseek(proc, 0, SEEK_SET) < 0)
		return -1;
	while ((n = syscall(SYS_getdents64, proc, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < n;) {
			struct dirent64_raw entry;
			const char *name = buffer + at + offsetof(struct dirent64_raw, name);

			memcpy(&entry, buffer + at, offsetof(struct dirent64_raw, name));
			at += entry.reclen;
			if (!isdigit((unsigned char)name[0]))
				continue;
			u->memory_bytes += memory(proc, name);
			if (times)
				add_times(proc, name, u);
		}
	return n < 0 ? -1 : 0;
}

static int64_t tmpfs_bytes(int out)
{
	struct statfs fs;

	if (out < 0 || fstatfs(out, &fs) < 0)
		return 0;
	return (int64_t)(fs.f_blocks - fs.f_bfree) * (int64_t)fs.f_bsize;
}

int supervise_count(int proc, int out, int64_t memory_limit, struct usage *ret_usage)
{
	struct usage u = { .memory_bytes = tmpfs_bytes(out) };
	int64_t written = u.memory_bytes;

	if (count(proc, resident, true, &u) < 0)
		return -1;
	if (u.memory_bytes > memory_limit) {
		u.memory_bytes = written;
		if (count(proc, proportional, false, &u) < 0)
			return -1;
	}
	*ret_usage = u;
	return 0;
}
