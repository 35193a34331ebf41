// threat: 20 stdout floods: cut, told so, our memory flat
// outcome: output_limit
// truncated: stdout
// our-memory-mib: 8
// slower: 6000
#include "probe.h"
int main(void)
{
	static char chunk[1 << 20];
	for (;;)
		write(1, chunk, sizeof(chunk));
}
