// threat: 72 rules of Landlock are charged, or there are none to be had
// outcome: memory
// limit: memory_mib=64
// without-memory: exit 0
// gvisor: memory; found by looking
#include "probe.h"
#include <stdint.h>
int main(void)
{
	struct {
		uint64_t fs, net;
	} net = { 0, 3 }; /* bind and connect */
	struct {
		uint64_t access, port;
	} rule = { .access = 1 };
	for (int rulesets = 0; rulesets < 32; rulesets++) {
		long fd = syscall(444, &net, sizeof(net), 0);
		if (fd < 0 && errno == EPERM)
			return 0; /* nobody charges here */
		while (fd < 0)	  /* before 6.7 there are none of these: take any memory */
			memset(malloc(1 << 20), 1, 1 << 20);
		for (rule.port = 0; rule.port < 65536; rule.port++)
			must(syscall(445, fd, 2, &rule, 0) == 0);
	}
	return 1;
}
