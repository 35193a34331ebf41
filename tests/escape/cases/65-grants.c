// threat: 65 a flood of calls to be granted that come to nothing
// outcome: timeout_wall
// limit: wall_ms=1000 cpu_ms=5000
#include "probe.h"
int main(void)
{
	for (;;) {
		must(mmap(NULL, 0, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
		must(syscall(SYS_clone, 0x10000 /* CLONE_THREAD */, 0, 0, 0, 0) == -1);
	}
}
