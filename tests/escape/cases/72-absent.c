// threat: 72 names that are not there, of which the kernel remembers each after the run
// outcome: exit
// limit: memory_mib=32 wall_ms=20000 cpu_ms=20000
// without-memory: memory
// tries: 3
// gvisor: timeout_wall or exit 0; names that are not there are not kept
#include "probe.h"
#include <time.h>
int main(void)
{
	char name[256] = "/usr/";
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t); /* others than the last time */
	memset(name + 5, 'x', 210);
	for (unsigned n = 0; n < 200000; n++) {
		struct stat st;

		sprintf(name + 215, "%u-%ld-%ld", n, t.tv_sec, t.tv_nsec);
		must(stat(name, &st) < 0 && errno == ENOENT);
	}
	return 0;
}
