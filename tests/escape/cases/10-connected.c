// threat: 10 sockets made by connecting: at the worst there are no more to be had
// alone: the kernel counts sockets and descriptors on their way for each user
// out: ok
// limit: memory_mib=64
#include "probe.h"
#include <sys/un.h>
int main(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "/tmp/listener" };
	int sockets[200], made = 0, connected = 0, listener = socket(AF_UNIX, SOCK_STREAM, 0);
	must(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(listener, 200) == 0);
	while (made < 200 && (sockets[made] = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0)
		made++;
	must(made == 200 || errno == ENFILE);
	for (int i = 0; i < made; i++)
		connected += connect(sockets[i], (struct sockaddr *)&at, sizeof(at)) == 0;
	must(made + connected > 40);
	usleep(300000); /* somebody looks */
	puts("ok");
}
