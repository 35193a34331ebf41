// threat: 6 a gigabyte in a memfd
// outcome: memory
// limit: memory_mib=64
// without-memory: exit 1
// gvisor: memory; a memfd is counted as memory, and so may be had
#include "probe.h"
int main(void)
{
	static char page[1 << 20] = { 1 };
	int fd = memfd_create("x", 0);
	must(fd >= 0);
	for (int i = 0; i < 1024; i++)
		must(write(fd, page, sizeof(page)) > 0);
}
