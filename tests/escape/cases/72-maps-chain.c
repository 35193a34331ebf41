// threat: 72 maps that each generation ties to all before it
// outcome: memory
// limit: memory_mib=64
// gvisor: timeout_wall or timeout_cpu; maps take less
#include "probe.h"
#define MAPS 20000ul
int main(void)
{
	char *maps =
		mmap(NULL, MAPS * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t m = 0; m < MAPS; m += 2)
		mprotect(maps + m * 4096, 4096, PROT_NONE);
	for (int depth = 0; depth < 12; depth++) {
		for (size_t m = 1; m < MAPS; m += 2) {
			maps[m * 4096] = 1;
			madvise(maps + m * 4096, 4096, MADV_DONTNEED);
		}
		if (fork() != 0)
			break;
	}
	sleep(8); /* somebody looks */
	return 0;
}
