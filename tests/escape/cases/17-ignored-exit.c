// threat: 17 nobody waits for them, and their last thread ends alone
// outcome: timeout_cpu
// limit: cpu_ms=300 wall_ms=20000
#include "probe.h"
#include "spin.h"
int main(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 400; i++) {
		if (fork() == 0) {
			spin_ms(8);
			syscall(SYS_exit, 0);
		}
		usleep(8000);
	}
	return 0;
}
