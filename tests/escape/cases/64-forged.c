// threat: 64 SIGSYS sent to itself is a signal, not a denied call
// outcome: signal
// signal: 31
#include "probe.h"
int main(void)
{
	puts("{\"outcome\":\"forbidden_syscall\"}");
	fflush(stdout);
	kill(getpid(), SIGSYS);
	pause();
}
