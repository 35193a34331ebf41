/*
 * The processes of a run, one after the other, through the /proc of its pid namespace, which shows
 * exactly them. Nothing here changes one, or waits for one.
 */
#include "sandbox/native/keeper/processes.h"

#include "sandbox/native/keeper/util.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct dirent64_raw {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

/* Calls visit for every process, init too. */
int processes_visit(int proc, void (*visit)(int proc, const char *pid, struct usage *usage),
		    struct usage *usage)
{
	char buffer[8192] __attribute__((aligned(8)));

	if (lseek(proc, 0, SEEK_SET) < 0)
		return -1;
	long n;
	while ((n = syscall(SYS_getdents64, proc, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < n;) {
			struct dirent64_raw entry;
			const char *name = buffer + at + offsetof(struct dirent64_raw, name);

			memcpy(&entry, buffer + at, offsetof(struct dirent64_raw, name));
			at += entry.reclen;
			if (isdigit((unsigned char)name[0]))
				visit(proc, name, usage);
		}
	return n < 0 ? -1 : 0;
}

ssize_t processes_read(int proc, const char *pid, const char *file, char *ret, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", pid, file);
	return file_read(proc, path, ret, size);
}

bool processes_is_init(const char *pid)
{
	return !strcmp(pid, "1");
}
