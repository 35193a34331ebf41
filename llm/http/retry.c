/*
 * Whether and when to try again, out of a response and its headers, and the waiting itself, which
 * a cancel ends. It knows no request.
 */
#include "llm/http/retry.h"

#include "base/clock.h"
#include "base/mem.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

bool retry_wanted(const struct http_response *response, bool otherwise)
{
	if (!strcasecmp(response->should_retry, "true"))
		return true;
	if (!strcasecmp(response->should_retry, "false"))
		return false;
	return otherwise;
}

/* A finite number >= 0 that is all of text, else -1. */
static double parse_number(const char *text)
{
	char *rest;
	double n = strtod(text, &rest);

	if (rest == text || *rest != '\0' || !isfinite(n) || n < 0)
		return -1;
	return n;
}

/* RFC 9110 IMF-fixdate to Unix milliseconds; -1 when text is none. */
static int64_t parse_date(const char *text)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char month[4], zone[4];
	struct tm tm = { 0 };

	if (sscanf(text, "%*3s, %2d %3s %4d %2d:%2d:%2d %3s", &tm.tm_mday, month, &tm.tm_year,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, zone) != 7)
		return -1;
	const char *found = strlen(month) == 3 ? strstr(months, month) : NULL;
	if (!found || (found - months) % 3 != 0 || strcmp(zone, "GMT"))
		return -1;
	tm.tm_mon = (int)(found - months) / 3;
	tm.tm_year -= 1900;
	return (int64_t)timegm(&tm) * 1000;
}

static int64_t clamp_ms(double ms)
{
	return ms > 1e12 ? (int64_t)1e12 : (int64_t)ceil(ms);
}

/* What the server asks for, or -1. */
static int64_t asked_ms(const struct http_response *response, int64_t wall_ms)
{
	double n = parse_number(response->retry_after_ms);

	if (n >= 0)
		return clamp_ms(n);
	n = parse_number(response->retry_after);
	if (n >= 0)
		return clamp_ms(n * 1000);
	int64_t date = parse_date(response->retry_after);
	if (date < 0)
		return -1;
	return date > wall_ms ? date - wall_ms : 0;
}

int64_t retry_delay_ms(const struct http_response *response, int n, double jitter, int64_t wall_ms)
{
	int64_t asked = asked_ms(response, wall_ms);
	double ms = n < 4 ? 500.0 * (double)(1 << n) : 8000.0;

	if (asked >= 0)
		return asked;
	return (int64_t)(ms * (1.0 - 0.25 * jitter));
}

/* RFC 3339 in UTC to Unix milliseconds, -1 when text is none. */
static int64_t parse_rfc3339(const char *text)
{
	struct tm tm = { 0 };
	int used = 0;

	if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec, &used) != 6)
		return -1;
	text += used;
	if (*text == '.')
		text += 1 + strspn(text + 1, "0123456789");
	if (strcmp(text, "Z") && strcmp(text, "+00:00"))
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	return (int64_t)timegm(&tm) * 1000;
}

/* Go's way of writing a duration: "1h2m3.5s", "20ms". -1 when text is none. */
static int64_t parse_duration(const char *text)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "ms", 1 }, { "h", 3600000 }, { "m", 60000 }, { "s", 1000 } };
	double total = 0;

	while (*text) {
		char *rest;
		double n = strtod(text, &rest);
		size_t i = 0;

		while (i < ARRAY_SIZE(units) && strncmp(rest, units[i].unit, strlen(units[i].unit)))
			i++;
		if (rest == text || !isfinite(n) || n < 0 || i == ARRAY_SIZE(units))
			return -1;
		total += n * units[i].ms;
		text = rest + strlen(units[i].unit);
	}
	return clamp_ms(total);
}

/* "6m0s", "1.5s", "20ms", seconds, or RFC 3339: milliseconds from wall_ms, -1 when none. */
static int64_t parse_reset(const char *text, int64_t wall_ms)
{
	double n = parse_number(text);

	if (!*text)
		return -1;
	if (n >= 0)
		return clamp_ms(n * 1000);
	int64_t date = parse_rfc3339(text);
	if (date < 0)
		return parse_duration(text);
	return date > wall_ms ? date - wall_ms : 0;
}

int64_t retry_hold_ms(const struct http_response *response, bool refused, int64_t tokens,
		      int64_t wall_ms)
{
	double requests = parse_number(response->requests_left);
	double left = parse_number(response->tokens_left);
	int64_t hold = refused ? asked_ms(response, wall_ms) : 0;

	if (requests >= 0 && requests < 1) {
		int64_t reset = parse_reset(response->requests_reset, wall_ms);
		hold = reset > hold ? reset : hold;
	}
	if (left >= 0 && left < (double)tokens) {
		int64_t reset = parse_reset(response->tokens_reset, wall_ms);
		hold = reset > hold ? reset : hold;
	}
	return hold > 0 ? hold : 0;
}

/* Up to the next full second of what is left, which is 1 to 1000 ms away. */
static int slice_ms(int64_t left_ms)
{
	return left_ms > 0 ? (int)((left_ms - 1) % 1000 + 1) : 0;
}

bool retry_wait(int64_t ms, int cancel_fd, void (*tick)(void *self, int64_t left_ms), void *self)
{
	int64_t until = clock_mono_ms() + ms, left = ms;

	if (ms < 1000)
		tick = NULL;
	bool cancelled = false;
	for (; !cancelled; left = until - clock_mono_ms()) {
		struct pollfd p = { .fd = cancel_fd, .events = POLLIN };

		if (tick && left > 0)
			tick(self, left);
		cancelled = poll(&p, 1, slice_ms(left)) > 0;
		if (left <= 0)
			break;
	}
	if (tick)
		tick(self, 0);
	return !cancelled;
}

double retry_jitter(void)
{
	return (double)arc4random() / 4294967296.0;
}
