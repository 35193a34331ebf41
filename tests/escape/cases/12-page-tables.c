// threat: 12 page tables of a map that holds nothing but the zero page
// outcome: memory
// limit: memory_mib=64
#include "probe.h"
int main(void)
{
	static volatile char sum;
	size_t step = 2 << 20, len = step * 100000;
	char *at = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	must(at != MAP_FAILED);
	for (size_t i = 0; i < len; i += step)
		sum += at[i];
	for (;;)
		pause(); /* until somebody looks */
}
