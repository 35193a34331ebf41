/*
 * When work is to end before it is done: a deadline, or a descriptor that
 * becomes readable. Handed down to whatever a model, a program or a file can
 * make long; whoever works looks at it now and then.
 */
#ifndef BASE_STOP_H
#define BASE_STOP_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct stop {
	int cancel_fd;	     /* readable: the user wants it; -1: there is none */
	int64_t deadline_ms; /* by clock_mono_ms; INT64_MAX: none */
};

/* For work that nothing ends before its time. */
#define STOP_NEVER                                        \
	{                                                 \
		.cancel_fd = -1, .deadline_ms = INT64_MAX \
	}

/* One poll(2) and a look at the clock; NULL is never. */
bool stop_now(const struct stop *stop);
/* 0, or -1 with ERR_CANCELLED "interrupted" or ERR_DEADLINE. */
int stop_check(const struct stop *stop, struct error *err);

#endif
