/*
 * Names that are not there. The kernel remembers each that somebody looked for below /usr, with the
 * file system of the host, where it stays after the run until memory is short. A control group for
 * memory counts that; without one only the sum of the whole host is known (proc(5), dentry-state).
 * So when it has grown by an eighth of the limit, and the run has spent enough time in the kernel
 * to be the reason, the run is stopped for a moment. When the sum stands still with it, twice, all
 * of it was the run's. When it goes on growing somebody else is at it, and nobody can tell how much
 * was whose: the run gets the benefit of the doubt, and may not be charged.
 */
#include "sandbox/native/keeper/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <time.h>

#define NAME_BYTES   704 /* of one as long as can be: 192 and 512 */
#define PART	     8	 /* of the limit */
#define NAMES_PER_US 1	 /* as fast as anybody can look for them */
#define STOPPING_US  1000
#define STOPPED_US   30000   /* others may have to wait for a processor so long */
#define APART_US     20000   /* at most */
#define STILL	     4	     /* what others may add, in so many parts of all */
#define DOUBT_US     1000000 /* until the next time */

/* -1: not to be had; before 5.0 it was always 0. */
static int64_t count(void)
{
	char text[256];
	long long absent;

	if (file_read(AT_FDCWD, "/proc/sys/fs/dentry-state", text, sizeof(text)) <= 0 ||
	    sscanf(text, "%*d %*d %*d %*d %lld", &absent) != 1)
		return -1;
	return absent;
}

static void pause_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

/* How many appear in a second while the run is stopped. It may not fork: that is ours
 * to grant. */
static int64_t rate_of_others(int proc)
{
	struct stopped before;

	supervise_stopped(proc, &before);
	supervise_stop(proc);
	pause_us(STOPPING_US);
	supervise_stop(proc);
	int64_t start = now_us();
	int64_t first = count();
	pause_us(STOPPED_US);
	int64_t us = now_us() - start;
	first = count() - first;
	supervise_continue(proc, &before);
	return first > 0 ? first * 1000000 / us : 0;
}

/* How many of those that there are more now are the run's. */
static int64_t share(struct absent *a, int proc, int64_t more, int64_t system_us)
{
	int64_t possible = (system_us - a->system_us) * NAMES_PER_US;
	int64_t bearable = more * 1000000 / (now_us() - a->since_us + 1) / STILL;

	if (possible < more / PART)
		return 0;
	bool doubt = rate_of_others(proc) > bearable;
	if (!doubt) {
		pause_us(now_us() * 7919 % APART_US); /* another may be stopped for this too */
		doubt = rate_of_others(proc) > bearable;
	}
	a->doubt_us = doubt ? now_us() + DOUBT_US : 0;
	return doubt ? 0 : more < possible ? more : possible;
}

int64_t absent_bytes(struct absent *a, int proc, int64_t system_us, int64_t memory_limit)
{
	const int64_t there = count(), now = now_us();
	const bool grew = there - a->seen >= memory_limit / PART / NAME_BYTES;

	if (a->since_us != 0 && now >= a->doubt_us && there >= a->seen && !grew)
		return a->ours * NAME_BYTES;
	if (a->since_us != 0 && now >= a->doubt_us && grew)
		a->ours += share(a, proc, there - a->seen, system_us);
	a->seen = count();
	a->system_us = system_us;
	a->since_us = now_us();
	return a->ours * NAME_BYTES;
}
