// threat: 6 shared memory that is taken out of every map and stays
// outcome: memory
// limit: memory_mib=128
// without-memory: exit 1
// gvisor: memory; counted as memory by that kernel, and so not refused when it is made
#include "probe.h"
int main(void)
{
	for (int i = 0; i < 640; i += 40) {
		size_t len = 40 << 20;
		char *at =
			mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		must(at != MAP_FAILED);
		memset(at, 1, len);
		must(madvise(at, len, MADV_DONTNEED) == 0);
		must(munmap(at + 4096, len - 4096) == 0); /* the rest stays with its first page */
	}
}
