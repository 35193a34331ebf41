// threat: 21 stderr floods, stdout is silent
// outcome: output_limit
// truncated: stderr
// slower: 6000
#include "probe.h"
int main(void)
{
	static char chunk[1 << 20];
	for (;;)
		write(2, chunk, sizeof(chunk));
}
