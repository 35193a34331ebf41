/*
 * The keeper's part of a context: what it looks at before a state is kept, what is ended
 * when a guest ends and its init does not, and how the next one is started. What a guest or a
 * holder says decides nothing here but when to look; all looking is done at the kernel's /proc
 * of the run.
 */
#include "sandbox/native/keeper/context.h"
#include "sandbox/native/keeper/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ORPHAN_TRIES 40 /* till init has reaped what ended just before */
#define PAUSE_NS     500000

/* A number whose process has ended may be a guest's by now. */
static void add(const struct run *r, const struct holder *h, struct stopped *to)
{
	if (h->pid > 0 && supervise_since(r->proc, h->pid) == h->since)
		to->pids[to->count++] = h->pid;
}

static struct stopped held_of(const struct run *r)
{
	struct stopped held = { .count = 0 };

	for (size_t i = 0; i < PROTOCOL_STATES_MAX; i++) {
		add(r, &r->slots[i], &held);
		add(r, &r->dying[i], &held);
	}
	add(r, &r->holds, &held);
	return held;
}

static void pause_shortly(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = PAUSE_NS }, NULL);
}

bool held_is_still(struct run *r)
{
	struct stopped held = held_of(r);

	return supervise_others(r->proc, &held) == 0;
}

void held_strike(struct run *r)
{
	struct stopped held = held_of(r);

	/* Nobody can be born while we end them one by one. */
	cgroups_stop_forks(&r->keeper->cgroups);
	supervise_kill_others(r->proc, &held);
}

/* --- whether it holds --- */

static void refuse(struct run *r, const char *why)
{
	snprintf(r->result.why_not_held, sizeof(r->result.why_not_held), "%s", why);
	r->holds = (struct holder){ .pid = 0 };
}

/* A guest could say anything, and it is in the record. */
void held_refused(struct run *r, const char *why)
{
	static const char *const words[] = { HOLD_REFUSALS };
	size_t i = 0;

	while (i < sizeof(words) / sizeof(words[0]) && strcmp(why, words[i]))
		i++;
	refuse(r, i < sizeof(words) / sizeof(words[0]) ? words[i] : "it cannot be copied");
}

void held_look(struct run *r, pid_t pid)
{
	r->holds = (struct holder){ .pid = pid, .since = supervise_since(r->proc, pid) };
	int tries = ORPHAN_TRIES;
	/* Whatever it is doing: what it left is looked at when nobody can change it any more. */
	while ((!supervise_stop_one(r->proc, pid) || !held_is_still(r)) && tries-- > 0)
		pause_shortly();
	if (tries < 0)
		refuse(r, HOLD_PROCESS);
	else if (supervise_threads(r->proc, pid) != 1)
		refuse(r, HOLD_THREAD);
	/* It has ended well, whatever becomes of it now. */
	r->result.has_status = 1;
	r->result.wait_status = 0;
	r->ended_us = now_us();
	r->over = true;
	r->result.held = r->holds.pid != 0;
}

static int order(const struct run *r, enum context_kind kind, uint32_t slot, const int *fds,
		 size_t count)
{
	const struct context_order order = { .kind = (uint32_t)kind, .slot = slot };

	return message_send(r->keeper->launcher.events, &order, sizeof(order), fds, count);
}

void held_settle(struct run *r)
{
	if (r->holds.pid == 0)
		return;
	r->slots[r->request->state - 1] = r->holds;
	r->holds = (struct holder){ .pid = 0 };
	order(r, CONTEXT_KEEP, r->request->state - 1, NULL, 0);
}

void held_drop(struct run *r, uint32_t slot)
{
	if (slot >= PROTOCOL_STATES_MAX || r->slots[slot].pid == 0)
		return;
	for (size_t i = 0; i < PROTOCOL_STATES_MAX; i++)
		if (r->dying[i].pid == 0) {
			r->dying[i] = r->slots[slot];
			break;
		}
	r->slots[slot] = (struct holder){ .pid = 0 };
	order(r, CONTEXT_DROP, slot, NULL, 0);
}

static void forget_dead(struct run *r)
{
	for (size_t i = 0; i < PROTOCOL_STATES_MAX; i++)
		if (r->dying[i].pid > 0 &&
		    supervise_since(r->proc, r->dying[i].pid) != r->dying[i].since)
			r->dying[i] = (struct holder){ .pid = 0 };
}

/* --- the next --- */

int held_fork(struct run *r, const int *fds)
{
	const int given[CONTEXT_FDS] = { [CONTEXT_PAYLOAD] = fds[PROTOCOL_FD_PAYLOAD],
					 [CONTEXT_STDIN] = fds[PROTOCOL_FD_STDIN],
					 [CONTEXT_STDOUT] = fds[PROTOCOL_FD_STDOUT],
					 [CONTEXT_STDERR] = fds[PROTOCOL_FD_STDERR] };
	uint32_t slot = r->request->from - 1;

	forget_dead(r);
	errno = 0;
	if (slot >= PROTOCOL_STATES_MAX || r->slots[slot].pid == 0)
		return failure_set(&r->result.failure, "the state is not kept any more", "");
	if (order(r, CONTEXT_FORK, slot, given, CONTEXT_FDS) < 0)
		return failure_set(&r->result.failure, "hand over the run", "");
	return 0;
}
