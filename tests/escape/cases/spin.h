/* Uses a processor for so long. */
#include <time.h>

static void spin_ms(int ms)
{
	struct timespec t;

	do {
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	} while (t.tv_nsec < ms * 1000000L && t.tv_sec == 0);
}
