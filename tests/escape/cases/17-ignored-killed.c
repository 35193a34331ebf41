// threat: 17 nobody waits for them (SA_NOCLDWAIT), and a signal ends them
// outcome: timeout_cpu
// limit: cpu_ms=300 wall_ms=20000
#include "probe.h"
#include "spin.h"
int main(void)
{
	struct sigaction a = { .sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT };

	must(sigaction(SIGCHLD, &a, NULL) == 0);
	for (int i = 0; i < 400; i++) {
		if (fork() == 0) {
			spin_ms(8);
			kill(getpid(), SIGKILL);
		}
		usleep(8000);
	}
	return 0;
}
