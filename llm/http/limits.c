/*
 * What a server said of its limits, shared by the processes of a batch: who may ask now, and who
 * waits how long. It sleeps nowhere; a process that died gives back its place.
 */
#include "llm/http/limits.h"

#include "base/shared.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MAX 256
#define HOLD_MAX_MS   60000
#define GAP_LEAST_MS  20.0
#define GAP_MOST_MS   2000.0
#define CUT_EVERY_MS  1000 /* refusals of one burst are one piece of news */
#define BUSY_ASK_MS   20   /* how soon to ask again for a place */

struct llm_limits {
	struct shared shared;
	pid_t places[PROCESSES_MAX]; /* 0: free */
	int processes;
	double window;
	double gap_ms;				 /* between starts, after refusals */
	int64_t next_ms;			 /* no start before this */
	int64_t cut_ms;				 /* no other halving before this */
	double request_ms, token_ms;		 /* per request and per token; 0: no limit set */
	double requests_free_ms, tokens_free_ms; /* when the next fits */
};

struct llm_limits *llm_limits_create(int processes, int64_t requests_per_minute,
				     int64_t tokens_per_minute)
{
	struct llm_limits *l = shared_new(sizeof(*l));

	if (!l)
		return NULL;
	l->processes = processes < 1 ? 1 : processes < PROCESSES_MAX ? processes : PROCESSES_MAX;
	l->window = l->processes;
	l->request_ms = requests_per_minute > 0 ? 60000.0 / (double)requests_per_minute : 0;
	l->token_ms = tokens_per_minute > 0 ? 60000.0 / (double)tokens_per_minute : 0;
	return l;
}

void llm_limits_free(struct llm_limits *l)
{
	shared_free(l, sizeof(*l));
}

/* Requests under way; places of the dead are freed. *ret_free: a free place. */
static int under_way(struct llm_limits *l, pid_t **ret_free)
{
	*ret_free = NULL;
	int n = 0;
	for (int i = 0; i < l->processes; i++) {
		if (l->places[i] && kill(l->places[i], 0) < 0 && errno == ESRCH)
			l->places[i] = 0;
		n += l->places[i] != 0;
		if (!l->places[i])
			*ret_free = &l->places[i];
	}
	return n;
}

static double later(double a, double b)
{
	return a > b ? a : b;
}

/* When the next may start by pace and minute. */
static double earliest(const struct llm_limits *l)
{
	return later((double)l->next_ms, later(l->requests_free_ms, l->tokens_free_ms));
}

int64_t limits_enter(struct llm_limits *l, int64_t now_ms, int64_t tokens)
{
	double now = (double)now_ms;

	shared_lock(&l->shared);
	double at = earliest(l);
	int64_t wait_ms = BUSY_ASK_MS;
	pid_t *place;
	if (at > now) {
		wait_ms = (int64_t)(at - now) + 1;
	} else if (under_way(l, &place) < (int)l->window && place) {
		*place = getpid();
		l->next_ms = now_ms + (int64_t)l->gap_ms;
		l->requests_free_ms = now + l->request_ms;
		l->tokens_free_ms = now + l->token_ms * (double)tokens;
		wait_ms = 0;
	}
	shared_unlock(&l->shared);
	return wait_ms;
}

static void give_place(struct llm_limits *l)
{
	for (int i = 0; i < l->processes; i++) {
		if (l->places[i] == getpid()) {
			l->places[i] = 0;
			return;
		}
	}
}

static void refused(struct llm_limits *l, int64_t now_ms)
{
	if (now_ms < l->cut_ms)
		return;
	l->cut_ms = now_ms + CUT_EVERY_MS;
	l->window = later(1, l->window / 2);
	double gap = later(GAP_LEAST_MS, l->gap_ms * 2);
	l->gap_ms = gap < GAP_MOST_MS ? gap : GAP_MOST_MS;
}

static void succeeded(struct llm_limits *l)
{
	l->window += 1 / l->window;
	if (l->window > l->processes)
		l->window = l->processes;
	l->gap_ms = l->gap_ms < GAP_LEAST_MS / 2 ? 0 : l->gap_ms * 0.8;
}

void limits_done(struct llm_limits *l, int64_t now_ms, enum limits_outcome outcome, int64_t hold_ms,
		 int64_t estimated, int64_t tokens)
{
	shared_lock(&l->shared);
	give_place(l);
	if (outcome == LIMITS_REFUSED)
		refused(l, now_ms);
	else if (outcome == LIMITS_OK)
		succeeded(l);
	int64_t until = now_ms + (hold_ms < HOLD_MAX_MS ? hold_ms : HOLD_MAX_MS);
	if (hold_ms > 0 && until > l->next_ms)
		l->next_ms = until;
	l->tokens_free_ms += l->token_ms * (double)(tokens - estimated);
	shared_unlock(&l->shared);
}
