/*
 * Memory that a process shares with those it forks, under one lock. A holder that dies gives the
 * lock back: what is under it must be valid at any moment, as numbers are that are each so by
 * themselves.
 */
#ifndef BASE_SHARED_H
#define BASE_SHARED_H

#include <pthread.h>
#include <stddef.h>

/* The first member of what is shared. */
struct shared {
	pthread_mutex_t lock;
};

/* Zeroed, of so many bytes with the struct shared at their beginning; NULL without memory. */
void *shared_new(size_t size);
void shared_free(void *memory, size_t size); /* NULL allowed */

void shared_lock(struct shared *shared);
void shared_unlock(struct shared *shared);

#endif
