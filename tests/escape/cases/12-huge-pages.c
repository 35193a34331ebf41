// threat: 12 the huge pages of the host, which no memory group counts
// forbidden: memfd_create
// gvisor: exit 1; refused with another error
// gvisor-out: MAP_FAILED && errno == ENOMEM: errno 1
#include "probe.h"
int main(void)
{
	must(mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB,
		  -1, 0) == MAP_FAILED &&
	     errno == ENOMEM);
	must(mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB,
		  -1, 0) == MAP_FAILED &&
	     errno == ENOMEM);
	must(memfd_create("x", MFD_HUGETLB) < 0 && errno == EPERM);
}
