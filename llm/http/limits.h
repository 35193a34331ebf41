/*
 * The limits of a server as all processes of a batch see them.
 *
 * Theory of operation: one page of shared memory under a robust lock, made by
 * the parent before it forks. Before each request a process asks to be let in
 * and after it says how it went. Three things hold a request back:
 *
 * - concurrency: at most `window` requests are under way. A refusal for load
 *   (429, 503, 529) halves the window, a success adds 1/window, so a round of
 *   successes adds one (TCP's rule), up to the number of processes;
 * - pace: after a refusal requests start one by one with a gap that doubles
 *   with each refusal and shrinks with each success, so that those who waited
 *   do not all come back at once;
 * - the minute: with N per minute a request may start 60 s / N after the one
 *   before; tokens likewise, by an estimate that is corrected afterwards.
 *
 * A process that dies with a request under way is noticed and its place freed.
 * Times are monotonic milliseconds, given by the caller: nothing here waits.
 */
#ifndef LLM_LIMITS_H
#define LLM_LIMITS_H

#include "llm/llm.h"

#include <stdint.h>

enum limits_outcome {
	LIMITS_OK,
	LIMITS_REFUSED, /* 429 or overloaded */
	LIMITS_OTHER,	/* says nothing about load */
};

/* 0: go, and limits_done must follow; else ask again in so many ms. */
int64_t limits_enter(struct llm_limits *l, int64_t now_ms, int64_t tokens);

/*
 * tokens: what it really took, or the estimate again. hold_ms: how long the
 * server wants no request (Retry-After, or nothing left until a reset), 0: not
 * said; more than a minute counts as a minute, so that somebody looks again.
 */
void limits_done(struct llm_limits *l, int64_t now_ms, enum limits_outcome outcome, int64_t hold_ms,
		 int64_t estimated, int64_t tokens);

#endif
