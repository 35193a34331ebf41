// threat: 30 31 limits and priorities: EPERM
// forbidden: mlockall
// gvisor: exit 1; there are no other schedulers
// gvisor-out: sched_setscheduler(0, SCHED_FIFO
#include "probe.h"
#include <sched.h>
int main(void)
{
	for (int r = 0; r < RLIM_NLIMITS; r++) {
		struct rlimit l;
		must(getrlimit(r, &l) == 0);
		if (l.rlim_max == RLIM_INFINITY)
			continue;
		l.rlim_max++;
		must(setrlimit(r, &l) < 0 && errno == EPERM);
	}
	must(sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ 1 }) < 0 && errno == EPERM);
	must(sched_setscheduler(0, SCHED_RR, &(struct sched_param){ 99 }) < 0 && errno == EPERM);
	must(setpriority(PRIO_PROCESS, 0, -20) < 0 && (errno == EPERM || errno == EACCES));
	must(mlockall(MCL_CURRENT) < 0 && errno == EPERM);
}
