// threat: 15 busy loop: the wall limit is kept
// outcome: timeout_wall
// limit: wall_ms=200
// overshoot: 10
#include "probe.h"
int main(void)
{
	for (volatile long i = 0;; i++)
		;
}
