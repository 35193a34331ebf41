// threat: 36 numbers of x32, those it shares and those of its own: EPERM, named
// arch: x86_64
// forbidden: getpid ptrace #521 #9999
// forbidden-arch: x32
#include "probe.h"
#define X32 0x40000000
int main(void)
{
	must(syscall(X32 + 39) < 0 && errno == EPERM); /* getpid, which is allowed natively */
	must(syscall(X32 + 101, 0, 0, 0, 0) < 0 && errno == EPERM);
	must(syscall(X32 + 521, 0, 0, 0, 0) < 0 && errno == EPERM); /* ptrace of x32 */
	must(syscall(X32 + 9999) < 0 && errno == EPERM);
	must(syscall(X32 + 435, 0, 0) < 0);
}
