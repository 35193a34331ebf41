/* Waiting for a process to wait, or to stand still. */
#ifndef TEST_ASLEEP_H
#define TEST_ASLEEP_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns when pid is in that state, or is not there. */
static inline void until_state(pid_t pid, char wanted)
{
	for (char state = '\0'; state != wanted && state != 'Z';) {
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

/* In a system call. */
static inline void until_asleep(pid_t pid)
{
	until_state(pid, 'S');
}

#endif
