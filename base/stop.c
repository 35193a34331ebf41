/*
 * When work must end: a descriptor that became readable, or a deadline. It only looks; whoever
 * works asks, and ends by itself.
 */
#include "base/stop.h"

#include "base/clock.h"

#include <poll.h>

static bool cancelled(const struct stop *stop)
{
	struct pollfd fd = { stop->cancel_fd, POLLIN, 0 };

	return stop->cancel_fd >= 0 && poll(&fd, 1, 0) > 0 && fd.revents & POLLIN;
}

static bool late(const struct stop *stop)
{
	return stop->deadline_ms != INT64_MAX && clock_mono_ms() >= stop->deadline_ms;
}

bool stop_now(const struct stop *stop)
{
	return stop && (cancelled(stop) || late(stop));
}

int stop_check(const struct stop *stop, struct error *err)
{
	if (stop && cancelled(stop))
		return error_set(err, ERR_CANCELLED, "interrupted");
	if (stop && late(stop))
		return error_set(err, ERR_DEADLINE, "the deadline has passed");
	return 0;
}
