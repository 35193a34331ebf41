// threat: 15 17 64 busy threads: the CPU limit counts them together
// outcome: timeout_cpu
// limit: cpu_ms=300 wall_ms=5000 processes=80
// slower: 1500
#include "probe.h"
#include <pthread.h>
static void *spin(void *v)
{
	for (volatile long i = 0;; i++)
		;
}
int main(void)
{
	pthread_t t;
	for (int i = 0; i < 64; i++)
		must(pthread_create(&t, NULL, spin, NULL) == 0);
	spin(NULL);
}
