// threat: 35 mount of i386 in a grandchild: the run is killed
// arch: x86_64
// outcome: forbidden_syscall
// forbidden: mount
// forbidden-arch: i386
// slower: 2000
// gvisor: exit 0; there are no calls of another architecture
#include "probe.h"
int main(void)
{
	if (fork() == 0 && fork() == 0) {
		long r;
		__asm__ volatile("int $0x80"
				 : "=a"(r)
				 : "a"(21), "b"(0), "c"(0)
				 : "memory", "r8", "r9", "r10", "r11");
		puts("alive");
	}
	sleep(5);
}
