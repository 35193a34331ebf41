// threat: 2 3 a thousand children that ignore everything, at the timeout
// outcome: timeout_wall
// limit: processes=2000 wall_ms=1000
// slower: 1600
#include "probe.h"
int main(void)
{
	for (int i = 0; i < 1000; i++)
		if (fork() == 0) {
			setsid();
			for (int n = 1; n < 65; n++)
				signal(n, SIG_IGN);
			for (;;)
				pause();
		}
	for (;;)
		pause();
}
