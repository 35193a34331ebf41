// threat: 1 fork bomb
// outcome: process_limit
// limit: processes=32 wall_ms=800
// slower: 2500
#include "probe.h"
int main(void)
{
	for (;;)
		fork();
}
