// threat: 1 exactly as many processes as allowed, and the next is refused
// outcome: process_limit
// limit: processes=16
// out: 15 children, then EAGAIN
// gvisor: process_limit 1; refusals are seen by looking, also those a program coped with
// gvisor-out: 16 children, then EAGAIN
#include "probe.h"
int main(void)
{
	int n = 0;
	for (pid_t pid; (pid = fork()) >= 0; n++)
		if (pid == 0)
			for (;;)
				pause();
	must(errno == EAGAIN);
	printf("%d children, then EAGAIN\n", n);
	return 1;
}
