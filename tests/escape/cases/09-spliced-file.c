// threat: 9 pages of a file, held by pipes after the file let go of them
// alone: the kernel counts the pages of pipes for each user
// outcome: memory
// limit: memory_mib=32 disk_mib=8
// without-memory: exit 1
// gvisor: exit 0; splice copies there
#include "probe.h"
int main(void)
{
	static char text[1 << 20];
	int file = open("/tmp/file", O_RDWR | O_CREAT, 0600);

	for (int i = 0; i < 100; i++) {
		int ends[2];
		must(pipe(ends) == 0);
		fcntl(ends[1], F_SETPIPE_SZ, sizeof(text));
		must(pwrite(file, text, sizeof(text), 0) == sizeof(text));
		long slots = fcntl(ends[1], F_GETPIPE_SZ) / 4096;
		for (loff_t at = 0, n = 0; n < slots; n++, at = n * 4096)
			must(splice(file, &at, ends[1], NULL, 1, 0) == 1);
		must(ftruncate(file, 0) == 0);
	}
	return 0;
}
