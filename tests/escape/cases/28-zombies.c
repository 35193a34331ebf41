// threat: 28 zombies nobody waits for: they count, and go with the run
// outcome: process_limit
// exit: 1
// limit: processes=32
// slower: 2000
// gvisor: exit 1; a zombie does not count as a process there
#include "probe.h"
int main(void)
{
	for (int i = 0; i < 1000; i++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(0);
		if (pid < 0) {
			usleep(100000);
			return 1;
		}
	}
}
