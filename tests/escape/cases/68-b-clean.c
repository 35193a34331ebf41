// threat: 50 68 the next run is clean
// gvisor: exit 1; no socket has an abstract name there: none can be left, and none is found
// gvisor-out: errno == ECONNREFUSED: errno 22
#include "probe.h"
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/un.h>
int main(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX, .sun_path = "\0left-behind" };
	must(msgget(0x1234, 0) < 0 && (errno == ENOENT || errno == EPERM));
	must(semget(0x1234, 1, 0) < 0 && (errno == ENOENT || errno == EPERM));
	must(shmget(0x1234, 1, 0) < 0 && (errno == ENOENT || errno == EPERM));
	must(access("/dev/shm/left", F_OK) < 0 && access("/tmp/left", F_OK) < 0);
	must(connect(socket(AF_UNIX, SOCK_STREAM, 0), (void *)&name, sizeof(name)) < 0 &&
	     errno == ECONNREFUSED);
	must(kill(3, 0) < 0 && errno == ESRCH);
}
