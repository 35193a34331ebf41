// threat: 35 socketcall of i386 through int 0x80
// arch: x86_64
// outcome: forbidden_syscall
// forbidden: socketcall
// forbidden-arch: i386
// gvisor: exit 0; there are no calls of another architecture
// gvisor-out: alive
#include "probe.h"
int main(void)
{
	long r;
	__asm__ volatile("int $0x80"
			 : "=a"(r)
			 : "a"(102), "b"(1), "c"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	puts("alive");
}
