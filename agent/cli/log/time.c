/*
 * Times out of a log: a damaged or forged one may hold any 64-bit number. None overflows, and
 * what is no date is shown as what it is.
 */
#include "agent/cli/log/log.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void log_when(int64_t wall_ms, bool in_full, char ret[LOG_WHEN_SIZE])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm local;

	if (!clock_is_date(wall_ms) || !localtime_r(&seconds, &local))
		snprintf(ret, LOG_WHEN_SIZE, "(no such date)");
	else if (in_full)
		strftime(ret, LOG_WHEN_SIZE, "%Y-%m-%d %H:%M:%S %z", &local);
	else
		strftime(ret, LOG_WHEN_SIZE, "%m-%d %H:%M:%S", &local);
}

struct json *log_date_json(int64_t wall_ms)
{
	if (!wall_ms || !clock_is_date(wall_ms))
		return json_new_null();
	char text[CLOCK_TEXT_LEN + 1];
	clock_format(wall_ms, text);
	return json_new_string(text);
}

bool log_span(int64_t from_ms, int64_t to_ms, int64_t *ret_ms)
{
	return clock_is_date(from_ms) && clock_is_date(to_ms) &&
	       !__builtin_sub_overflow(to_ms, from_ms, ret_ms);
}

bool log_took(const struct audit_row *row, int64_t *ret_ms)
{
	return row->ended_ms && log_span(row->started_ms, row->ended_ms, ret_ms);
}
