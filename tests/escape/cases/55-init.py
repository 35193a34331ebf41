# threat: 55 31 nobody but itself may be slowed down, moved or limited
# forbidden: prlimit64 sched_setaffinity sched_setscheduler setpriority
# out: refused refused refused refused refused kept
# gvisor: exit 1; some limits cannot be set at all
# gvisor-out: not allowed to raise maximum limit
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import resource

def attempt(act):
    try:
        act()
        return "worked"
    except PermissionError:
        return "refused"

tries = [
    lambda: resource.prlimit(1, resource.RLIMIT_CPU, (1, 1)),
    lambda: os.sched_setaffinity(1, {0}),
    lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
    lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
    lambda: os.setpriority(os.PRIO_USER, 0, 19),
]
words = [attempt(act) for act in tries]
os.nice(1)
os.sched_setaffinity(0, os.sched_getaffinity(0))
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
print(*words, "kept")
