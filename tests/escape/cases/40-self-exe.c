// threat: 39 40 60 /proc/self/exe, its descriptor, its text: unchanged; pid 1 and the supervisor
// gvisor: exit 1; a program's own file may be open for writing while it runs
// gvisor-out: open(path, O_WRONLY) < 0: errno 0
// out of reach
#include "probe.h"
static int text(void)
{
	return 7;
}
int main(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), mem;
	char path[64];
	must(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(open(path, O_WRONLY) < 0); /* ETXTBSY: it runs */
	must(open("/proc/1/exe", O_RDONLY) < 0 && open("/proc/1/mem", O_RDONLY) < 0);
	must(open("/proc/1/root/", O_RDONLY) < 0 && open("/proc/1/cwd/", O_RDONLY) < 0);
	must(open("/proc/1/fd/3", O_RDWR) < 0 && open("/proc/1/environ", O_RDONLY) < 0);
	must(open("/proc/0/mem", O_RDONLY) < 0 && kill(getppid(), 0) <= 0);
	/* a read-only bind is not written through a private map's memory */
	int usr = open("/usr/bin/env", O_RDONLY);
	char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, usr, 0), first = map[1];
	mem = open("/proc/self/mem", O_RDWR);
	if (mem >= 0)
		pwrite(mem, "X", 1, (off_t)(map + 1));
	must(pread(usr, path, 2, 0) == 2 && path[1] == first);
	must(text() == 7);
}
