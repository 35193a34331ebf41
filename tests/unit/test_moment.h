/* What takes a moment, and minutes where it is not bounded: judged by a time of the processor that
 * is far off, on any machine and with sanitizers. */
#ifndef TEST_MOMENT_H
#define TEST_MOMENT_H

#include "base/clock.h"

#define A_MOMENT_US INT64_C(20000000)

/* Since clock_cpu_us() said began_us; what it took is said where that is no moment. */
#define ASSERT_MOMENT(what, began_us)                                          \
	do {                                                                   \
		const int64_t took_us = clock_cpu_us() - (began_us);           \
                                                                               \
		if (took_us > A_MOMENT_US)                                     \
			fail_msg("%s took %lld us", what, (long long)took_us); \
	} while (false)

#endif
