/* Time. Wall clock for records, monotonic for intervals and timeouts. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

int64_t clock_wall_ms(void); /* Unix time, UTC, milliseconds */
int64_t clock_mono_ms(void); /* CLOCK_MONOTONIC, milliseconds */
int64_t clock_cpu_us(void);  /* CPU time of the calling thread, microseconds */

/* Whether it lies in the years that RFC 3339 can write, 0 to 9999. */
bool clock_is_date(int64_t wall_ms);

/* "2026-11-21T08:25:16.123Z" (RFC 3339) into ret; years 0 to 9999, others are clamped. */
#define CLOCK_TEXT_LEN 24
void clock_format(int64_t wall_ms, char ret[CLOCK_TEXT_LEN + 1]);

#endif
