// threat: 73 5 whoever counts the memory waits for what has no processor
// outcome: memory
// limit: memory_mib=128 wall_ms=30000 cpu_ms=60000
#include "probe.h"
#include <sched.h>
#include <time.h>
#include <sys/resource.h>
#define MAPS   60000ul
#define SHARED (60ul << 20) /* by four: more than the limit, if you do not look closely */
#define HOGS   56
static volatile int *go;
/* Holds the lock of its maps, with the least right to a processor there is. */
static void hold(void)
{
	char *maps = mmap(NULL, MAPS * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	setpriority(PRIO_PROCESS, 0, 19);
	sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
	for (;;) {
		for (size_t i = 0; i < MAPS; i += 2)
			mprotect(maps + i * 4096, 4096, PROT_NONE);
		mprotect(maps, MAPS * 4096, PROT_READ);
	}
}
static void grow(void)
{
	while (!*go)
		usleep(1000);
	for (time_t end = time(NULL) + 3; time(NULL) < end;)
		;
	for (int mib = 0; mib < 6; mib++)
		memset(malloc(1 << 20), 1, 1 << 20);
	for (;;)
		;
}
int main(void)
{
	go = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < HOGS; i++)
		if (fork() == 0)
			grow();
	memset(malloc(SHARED), 1, SHARED);
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			hold();
	*go = 1;
	sleep(15); /* the limit was passed long ago */
	return 0;
}
