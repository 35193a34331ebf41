// threat: 16 sleep for ever: no CPU time at all
// outcome: timeout_wall
// limit: wall_ms=200
// cpu-below: 30
// overshoot: 10
#include "probe.h"
int main(void)
{
	for (;;)
		pause();
}
