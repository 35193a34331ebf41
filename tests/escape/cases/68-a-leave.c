// threat: 8 68 shared memory, semaphores, queues, files and sockets left behind
// gvisor: exit 1; no socket has an abstract name there: none can be left, and none is found
// gvisor-out: bind(socket(AF_UNIX, SOCK_STREAM, 0)
#include "probe.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/un.h>
int main(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0left-behind" };
	/* EPERM where no group counts it */
	must(msgget(0x1234, IPC_CREAT | 0666) >= 0 || errno == EPERM);
	must(semget(0x1234, 1, IPC_CREAT | 0666) >= 0 || errno == EPERM);
	must(shmget(0x1234, 1 << 20, IPC_CREAT | 0666) >= 0 || errno == EPERM);
	must(open("/dev/shm/left", O_CREAT | O_WRONLY, 0666) >= 0);
	must(open("/tmp/left", O_CREAT | O_WRONLY, 0666) >= 0);
	must(syscall(SYS_mq_open, "left", O_CREAT | O_RDWR, 0666, NULL) < 0);
	must(bind(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&name, sizeof(name)) == 0);
	if (fork() == 0) {
		setsid();
		for (;;)
			pause();
	}
}
