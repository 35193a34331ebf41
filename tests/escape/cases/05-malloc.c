// threat: 5 ten gigabytes
// outcome: memory
// limit: memory_mib=64
#include "probe.h"
int main(void)
{
	for (long i = 0; i < 10240; i++)
		memset(malloc(1 << 20), 1, 1 << 20);
}
