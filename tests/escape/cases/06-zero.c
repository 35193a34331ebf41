// threat: 6 /dev/zero mapped shared is memory that belongs to nobody
// out: read-only
// gvisor: exit 1; /dev/zero may be mapped: it is counted as memory
// gvisor-out: open("/dev/zero", O_RDWR) < 0 && errno == EACCES: errno 0
#include "probe.h"
int main(void)
{
	char *at, byte = 1;
	must(open("/dev/zero", O_RDWR) < 0 && errno == EACCES);
	must(read(open("/dev/zero", O_RDONLY), &byte, 1) == 1 && byte == 0);
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/zero", O_RDONLY), 0);
	must(at == MAP_FAILED && errno == EACCES);
	must(write(open("/dev/full", O_WRONLY), &byte, 1) < 0 && errno == ENOSPC);
	puts("read-only");
}
