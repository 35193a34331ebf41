// threat: 9 pages of 2 MiB each, held by a pipe after the program let go of them
// alone: the kernel counts the pages of pipes for each user
// outcome: memory
// limit: memory_mib=128
// without-memory: exit 1
#include "probe.h"
#include <sys/uio.h>
int main(void)
{
	size_t huge = 2 << 20;
	for (int n = 0; n < 40; n++) {
		int ends[2];
		must(pipe(ends) == 0);
		for (int i = 0; i < 16; i++) {
			char *map = mmap(NULL, 2 * huge, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			char *at = (char *)(((size_t)map + huge - 1) & ~(huge - 1));
			struct iovec page = { at, 4096 };
			must(map != MAP_FAILED);
			madvise(at, huge, MADV_HUGEPAGE);
			memset(at, 1, huge);
			must(vmsplice(ends[1], &page, 1, 0) == 4096);
			must(munmap(map, 2 * huge) == 0);
		}
	}
	puts("1280 MiB are held, where there are huge pages");
	for (;;)
		pause();
}
