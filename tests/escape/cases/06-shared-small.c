// threat: 6 71 a little shared memory is nobody's offence
// out: 42 from the child
#include "probe.h"
int main(void)
{
	int *at = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(at != MAP_FAILED);
	if (fork() == 0) {
		*at = 42;
		_exit(0);
	}
	wait(NULL);
	printf("%d from the child\n", *at);
}
