/*
 * Whose turn it is on this host. A case that says "alone" runs while no other case does, whichever
 * driver and user runs it; all others run side by side. A case waits for its turn before its time
 * counts.
 *
 * Two locks of folders that everybody can open: whoever waits for the second holds the first, so
 * that one that wants to be alone is not passed by those that need not be (host.t does the same).
 */
#ifndef TESTS_ESCAPE_TURN_H
#define TESTS_ESCAPE_TURN_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

static inline int turn_open(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0) {
		perror(folder);
		exit(2);
	}
	return fd;
}

static int turn_queue = -1, turn = -1;
static bool turn_alone;

/* Cases that follow one another alone are one turn: some build on what those before left. */
static inline void turn_take(bool alone)
{
	if (turn < 0) {
		turn_queue = turn_open("/var/tmp");
		turn = turn_open("/tmp");
	}
	if (alone && turn_alone)
		return;
	flock(turn, LOCK_UN);
	flock(turn_queue, LOCK_EX);
	flock(turn, alone ? LOCK_EX : LOCK_SH);
	flock(turn_queue, LOCK_UN);
	turn_alone = alone;
}

/* After a case: what is waited for until the next begins keeps nobody who wants to be alone. */
static inline void turn_leave(void)
{
	if (!turn_alone)
		flock(turn, LOCK_UN);
}

#endif
