// threat: 32 33 34 37 clone3: ENOSYS; new namespaces by number: EPERM; 9999: ENOSYS
// forbidden: clone unshare mount
// gvisor: exit 1; unknown calls are refused as others are
// gvisor-out: syscall(9999, 0) < 0 && errno == ENOSYS: errno 1
#include "probe.h"
#include <sched.h>
static int child(void *v)
{
	return 0;
}
int main(void)
{
	static char stack[65536];
	static const int flags[] = { CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,	   CLONE_NEWNET,
				     CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP, 0x80 };
	must(syscall(435, NULL, 0) < 0 && errno == ENOSYS);
	must(syscall(9999, 0) < 0 && errno == ENOSYS);
	must(syscall(-2, 0) < 0 && errno == ENOSYS);
	for (int i = 0; i < 8; i++) {
		must(syscall(SYS_clone, flags[i] | SIGCHLD, 0, 0, 0, 0) < 0 && errno == EPERM);
		must(syscall(SYS_unshare, flags[i]) < 0 && errno == EPERM);
	}
	must(clone(child, stack + sizeof(stack), SIGCHLD, NULL) > 0); /* glibc's way */
	must(syscall(SYS_mount, "x", "/tmp", "tmpfs", 0, 0) < 0 && errno == EPERM);
}
