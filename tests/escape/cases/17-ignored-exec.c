// threat: 17 nobody waits for them, and they are other programs by then
// outcome: timeout_cpu
// limit: cpu_ms=300 wall_ms=20000
#include "probe.h"
int main(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 400; i++) {
		if (vfork() == 0) {
			execl("/bin/sh", "sh", "-c",
			      "i=0; while [ $i -lt 8000 ]; do i=$((i + 1)); done", NULL);
			_exit(1);
		}
		usleep(8000);
	}
	return 0;
}
