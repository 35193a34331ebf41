// threat: 17 children of children that are gone: init's, who waits for them
// outcome: timeout_cpu
// limit: cpu_ms=300 wall_ms=20000
#include "probe.h"
#include "spin.h"
int main(void)
{
	for (int i = 0; i < 400; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (fork() == 0)
				spin_ms(8);
			_exit(0);
		}
		must(waitpid(pid, NULL, 0) == pid);
		usleep(8000);
	}
	return 0;
}
