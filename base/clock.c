/*
 * The three clocks and the one form of a date. Nothing here waits, and nobody else asks the
 * system for the time of a run.
 */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* RFC 3339 has four digits for the year. */
#define YEAR_0_MS    INT64_C(-62167219200000)
#define YEAR_9999_MS INT64_C(253402300799999)

static int64_t read_us(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t clock_wall_ms(void)
{
	return read_us(CLOCK_REALTIME) / 1000;
}

int64_t clock_mono_ms(void)
{
	return read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_cpu_us(void)
{
	return read_us(CLOCK_THREAD_CPUTIME_ID);
}

bool clock_is_date(int64_t wall_ms)
{
	return wall_ms >= YEAR_0_MS && wall_ms <= YEAR_9999_MS;
}

void clock_format(int64_t wall_ms, char ret[CLOCK_TEXT_LEN + 1])
{
	wall_ms = wall_ms < YEAR_0_MS ? YEAR_0_MS : wall_ms;
	wall_ms = wall_ms > YEAR_9999_MS ? YEAR_9999_MS : wall_ms;
	int64_t ms = (wall_ms % 1000 + 1000) % 1000;
	time_t seconds = (time_t)((wall_ms - ms) / 1000);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	char text[96];
	snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, (int)ms);
	memcpy(ret, text, CLOCK_TEXT_LEN);
	ret[CLOCK_TEXT_LEN] = '\0';
}
