// threat: 61 renames between look and open: everybody is dead when we look
// slower: 2000
#include "probe.h"
int main(void)
{
	chdir("/out");
	symlink("/etc/shadow", "b");
	close(open("a", O_CREAT | O_WRONLY, 0644));
	for (int i = 0; i < 4; i++)
		if (fork() == 0) {
			setsid();
			for (;;)
				syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b",
					2 /* RENAME_EXCHANGE */);
		}
	usleep(20000);
}
