// threat: 19 every signal blocked and ignored: the wall limit
// outcome: timeout_wall
// limit: wall_ms=200
// overshoot: 10
#include "probe.h"
int main(void)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	for (int n = 1; n < 65; n++)
		signal(n, SIG_IGN);
	for (;;)
		pause();
}
