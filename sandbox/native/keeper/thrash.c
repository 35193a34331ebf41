/*
 * A group at its memory limit that gets nothing done. The kernel kills only when it finds nothing
 * to take back, and the pages of programs and libraries can always be taken back and read again:
 * forty processes that fill the rest spend all their time so, until the clock ends them. That is
 * the memory limit's doing, and is told so.
 *
 * For a whole window the group must have been at its limit, must have read back what had been taken
 * from it, or lost processes, and must have spent next to nothing on the programs themselves. One
 * that sleeps there reads nothing back; one that computes spends its time on that. This may not end
 * a run, only say what it is.
 */
#include "sandbox/native/keeper/thrash.h"

#include "sandbox/native/keeper/keeper.h"

#define WINDOW_US	2000000
#define NEAR		64 /* within one part in so many of the limit */
#define READ_BACK_PAGES 256
#define WORK_OF_TIME	10 /* one part in so many of the window */
#define WORK_OF_CPU	5  /* one part in so many of the CPU time in it */

static bool begin(struct thrash *t, const struct cgroups *c, int64_t now)
{
	t->since_us = cgroups_cpu(c, &t->cpu) < 0 ? 0 : now;
	t->read_back = cgroups_read_back(c);
	t->oom_kills = cgroups_oom_kills(c);
	return false;
}

bool thrash_look(struct thrash *t, const struct cgroups *c, int64_t now)
{
	if (c->memory_limit <= 0 ||
	    cgroups_memory_now(c) < c->memory_limit - c->memory_limit / NEAR) {
		t->since_us = 0;
		return false;
	}
	if (t->since_us == 0)
		return begin(t, c, now);
	if (now - t->since_us < WINDOW_US)
		return false;
	struct cpu_time cpu;
	if (cgroups_cpu_since(c, &t->cpu, &cpu) < 0 ||
	    (cgroups_oom_kills(c) == t->oom_kills &&
	     cgroups_read_back(c) - t->read_back < READ_BACK_PAGES) ||
	    cpu.user_us > (now - t->since_us) / WORK_OF_TIME ||
	    cpu.user_us > cpu.total_us / WORK_OF_CPU)
		return begin(t, c, now);
	return true;
}
