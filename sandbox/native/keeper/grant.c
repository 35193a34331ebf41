/*
 * What the kernel would limit by a control group, granted call by call where there is none: forks
 * and anonymous shared mappings, which the supervised filter sends here (README.md says how they
 * are counted). Only registers are looked at, so that what was looked at is what happens; nothing
 * may be granted that could pass the limit, nor much of our time go into counting.
 */
#include "sandbox/native/keeper/grant.h"

#include "sandbox/native/keeper/supervise.h"
#include "sandbox/native/keeper/util.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT_SHARE	   16 /* one part in so many of the time */
#define COUNT_PAUSE_MIN_US 1000

static void count(struct grants *g)
{
	int64_t start = now_us(), pids = supervise_pids(g->proc);

	if (pids >= 0)
		g->pids = pids;
	int64_t pause = (now_us() - start) * COUNT_SHARE;
	g->count_us = now_us() + (pause > COUNT_PAUSE_MIN_US ? pause : COUNT_PAUSE_MIN_US);
}

int grant_fork(struct grants *g)
{
	if (!g->counts_pids)
		return 0;
	if (g->pids + 1 > g->processes && g->proc >= 0 && (!g->at_limit || now_us() > g->count_us))
		count(g);
	g->at_limit = g->pids + 1 > g->processes;
	if (g->at_limit) {
		g->forks_refused++;
		return EAGAIN;
	}
	g->pids++;
	return 0;
}

/* Idle ones are charged as if they were full, and shall be refused, not killed
 * for: they may have what the last look left, but for an eighth of the limit. */
int grant_sockets(struct grants *g, int64_t count)
{
	int64_t room = g->memory_bytes - g->memory_bytes / 8 - g->other_bytes;
	const int64_t each = supervise_socket_bytes();

	if (!g->counts_memory)
		return 0;
	if ((g->sockets + count) * each > room) {
		int64_t there = supervise_sockets_of(g->proc);
		g->sockets = there >= 0 ? there : g->sockets;
	}
	if ((g->sockets + count) * each > room)
		return ENFILE;
	g->sockets += count;
	return 0;
}

static int by_promise_and_size(const void *a, const void *b)
{
	const struct shared *one = a, *other = b;

	if ((one->by != 0) != (other->by != 0))
		return one->by != 0 ? -1 : 1;
	return one->bytes < other->bytes ? 1 : one->bytes > other->bytes ? -1 : 0;
}

void grant_count_shared(struct grants *g)
{
	int64_t there = supervise_shared(g->proc);
	size_t promised = 0;

	for (size_t i = 0; i < g->shared_count; i++) {
		if (g->shared[i].by != 0 && kill(g->shared[i].by, 0) < 0 && errno == ESRCH)
			g->shared[i].by = 0;
		promised += g->shared[i].by != 0;
	}
	if (there < 0 || (size_t)there + promised >= g->shared_count)
		return;
	qsort(g->shared, g->shared_count, sizeof(g->shared[0]), by_promise_and_size);
	g->shared_count = (size_t)there + promised;
	g->shared_bytes = 0;
	for (size_t i = 0; i < g->shared_count; i++)
		g->shared_bytes += g->shared[i].bytes;
}

int grant_shared(struct grants *g, pid_t thread, uint64_t len)
{
	if (!g->counts_memory)
		return 0;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t bytes = (len + page - 1) / page * page;

	for (size_t i = 0; i < g->shared_count; i++)
		if (g->shared[i].by == thread)
			g->shared[i].by = 0; /* it is made */
	if (len > (uint64_t)g->memory_bytes)
		return ENOMEM; /* whatever else there is: a question, no need */
	if (g->shared_count == SHARED_MAX || g->shared_bytes + (int64_t)bytes > g->memory_bytes)
		grant_count_shared(g);
	if (g->shared_count == SHARED_MAX || g->shared_bytes + (int64_t)bytes > g->memory_bytes) {
		g->shared_refused++;
		return ENOMEM;
	}
	g->shared[g->shared_count++] = (struct shared){ (int64_t)bytes, thread };
	g->shared_bytes += (int64_t)bytes;
	return 0;
}
