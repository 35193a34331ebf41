// threat: 29 a segmentation fault is reported as that, and leaves no core
// outcome: signal
// signal: 11
#include "probe.h"
int main(void)
{
	struct rlimit core;
	must(getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max <= 1);
	*(volatile int *)0 = 1;
}
