/*
 * The time of a stream of E2B's wire (pulse.h), out of the headers of its request: a number that
 * is none, or too long for one, asks for nothing. Nothing is sent or waited for here.
 */
#include "agent/doors/e2b/pulse.h"

#include "agent/doors/http/http.h"
#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define PING_SECONDS 90 /* as envd has it where nothing is asked for */
#define DIGITS_MAX   10

static int64_t number_of(const struct exchange *x, const char *name)
{
	const char *text = exchange_header(x, name);
	int64_t number = text && strlen(text) <= DIGITS_MAX ? strtoll(text, NULL, 10) : 0;

	return number > 0 ? number : 0;
}

void pulse_begin(struct pulse *p, struct exchange *x)
{
	int64_t seconds = number_of(x, "Keepalive-Ping-Interval"), now = clock_mono_ms();

	*p = (struct pulse){ .ping_ms = (seconds ? seconds : PING_SECONDS) * 1000,
			     .said_ms = now,
			     .begun_ms = now,
			     .asked_ms = number_of(x, "Connect-Timeout-Ms") };
}

void pulse_said(struct pulse *p)
{
	p->said_ms = clock_mono_ms();
}

bool pulse_is_due(const struct pulse *p)
{
	return clock_mono_ms() - p->said_ms >= p->ping_ms;
}

bool pulse_is_over(const struct pulse *p)
{
	return p->asked_ms && clock_mono_ms() - p->begun_ms >= p->asked_ms;
}
