// threat: 41 60 to be told what the host does below /usr, or to hold it up
// forbidden: fcntl
// out: neither told nor in the way
#include "probe.h"
int main(void)
{
	int dir = open("/usr/lib", O_RDONLY | O_DIRECTORY), file = open("/usr/bin/env", O_RDONLY);
	int own = open("/tmp/own", O_RDWR | O_CREAT, 0600);
	struct flock lock = { .l_type = F_WRLCK };
	must(dir >= 0 && file >= 0 && own >= 0);
	must(fcntl(dir, F_NOTIFY, DN_ACCESS | DN_MODIFY | DN_MULTISHOT) < 0 && errno == EPERM);
	must(syscall(SYS_fcntl, dir, 0x100000000 | F_NOTIFY, DN_ACCESS) < 0 && errno == EPERM);
	must(fcntl(file, F_SETLEASE, F_RDLCK) < 0 && errno == EPERM);
	must(fcntl(own, F_SETLEASE, F_WRLCK) < 0 && errno == EPERM);
	must(fcntl(file, F_SETLK, &lock) < 0 && errno == EBADF); /* only who may write */
	must(fcntl(own, F_SETLK, &lock) == 0 &&
	     fcntl(own, F_OFD_SETLK, &lock) < 0); /* what sqlite needs */
	puts("neither told nor in the way");
}
