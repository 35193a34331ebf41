// threat: 72 maps of pages nobody has
// outcome: memory
// limit: memory_mib=64
#include "probe.h"
#define MAPS 60000ul
int main(void)
{
	for (int i = 0; i < 20; i++) {
		if (fork() != 0)
			continue;
		char *maps = mmap(NULL, MAPS * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (size_t m = 0; m < MAPS; m += 2)
			mprotect(maps + m * 4096, 4096, PROT_NONE);
		for (;;)
			pause();
	}
	sleep(8); /* somebody looks */
	return 0;
}
