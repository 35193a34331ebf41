/* Waiting for a process to wait. */
#ifndef TEST_ASLEEP_H
#define TEST_ASLEEP_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns when pid sleeps in a system call, or is not there. */
static inline void until_asleep(pid_t pid)
{
	for (char state = 'R'; state != 'S' && state != 'Z';) {
		char path[64], line[512] = "";

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		FILE *file = fopen(path, "re");
		if (!file)
			return;
		const char *at = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
		state = at && at[1] ? at[2] : 'Z';
		fclose(file);
		usleep(1000);
	}
}

#endif
