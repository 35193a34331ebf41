/* Guard and helpers of the cases in C. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void guard(void) __attribute__((constructor));
static void guard(void)
{
	struct utsname host;

	if (uname(&host) == 0 && !strcmp(host.nodename, "assay") && getpid() == 2)
		return;
	puts("refuses to run outside the sandbox");
	_exit(99);
}

#define must(condition)                                                                 \
	do {                                                                            \
		if (!(condition)) {                                                     \
			printf("line %d: %s: errno %d\n", __LINE__, #condition, errno); \
			exit(1);                                                        \
		}                                                                       \
	} while (0)
