// threat: 7 the file that filled the disk is cut at once
// outcome: disk_limit
// exit: 1
// limit: disk_mib=16
// tries: 3
// gvisor: exit 1 or disk_limit 1; a full disk is seen by looking, and was not full any more
#include "probe.h"
int main(void)
{
	static char bytes[1 << 16];
	int fd = open("/work/a", O_RDWR | O_CREAT, 0600);

	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	must(ftruncate(fd, 0) == 0);
	return 1;
}
