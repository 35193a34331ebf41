// threat: 70 100 MB of stdin, never read: no deadlock
// stdin-mib: 100
// slower: 5000
#include "probe.h"
int main(void)
{
	return 0;
}
