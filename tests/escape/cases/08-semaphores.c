// threat: 8 System V semaphores, two megabytes a set
// outcome: memory
// limit: memory_mib=64
// without-memory: exit 1
// gvisor: memory; System V semaphores are memory of that kernel, and counted
#include "probe.h"
#include <sys/sem.h>
int main(void)
{
	for (int i = 0; i < 200; i++)
		must(semget(IPC_PRIVATE, 32000, 0600) >= 0);
}
