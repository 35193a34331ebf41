// threat: 1 64 as many processes as allowed, no fork refused: another failure is another
// outcome: exit
// exit: 1
// limit: processes=16
// gvisor: process_limit 1 or exit 1; one more may have been refused
#include "probe.h"
int main(void)
{
	for (int i = 0; i < 15; i++)
		if (fork() == 0)
			for (;;)
				pause();
	usleep(300000);
	return 1;
}
