// threat: 68 50 of which the next run finds none
// out: none
// gvisor: exit 1; no socket has an abstract name there: none can be left, and none is found
// gvisor-out: bind(socket(AF_UNIX, SOCK_DGRAM
#include "probe.h"
#include <stddef.h>
#include <sys/un.h>
int main(void)
{
	char line[256];
	int lines = 0;
	FILE *f = fopen("/proc/self/net/unix", "r");
	while (f && fgets(line, sizeof(line), f))
		if (lines++ > 0)
			fputs(line, stdout);
	for (int i = 0; i < 60; i++) {
		struct sockaddr_un name = { .sun_family = AF_UNIX };
		socklen_t len = offsetof(struct sockaddr_un, sun_path) + 1 +
				sprintf(name.sun_path + 1, "cycle-%d", i);
		must(bind(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&name, len) == 0);
	}
	puts("none");
}
