// threat: 17 nobody waits for them, and what they use is their threads'
// outcome: timeout_cpu
// limit: cpu_ms=300 wall_ms=20000
#include "probe.h"
#include "spin.h"
#include <pthread.h>
static void *spin(void *v)
{
	spin_ms(8);
	return v;
}
int main(void)
{
	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 400; i++) {
		if (fork() == 0) {
			pthread_t t;
			for (int n = 0; n < 2; n++)
				pthread_create(&t, NULL, spin, NULL);
			usleep(8500);
			kill(getpid(), SIGKILL);
		}
		usleep(8000);
	}
	return 0;
}
