# threat: 30 limits are not raised, 31 nor priorities
# out: PermissionError
# out: PermissionError
# out: PermissionError
# forbidden: mlockall
# gvisor: exit 0; some limits cannot be set at all
# gvisor-out: PermissionError
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import resource, ctypes
def attempt(f):
    try: f(); print("done")
    except (OSError, ValueError) as e: print("PermissionError" if isinstance(e, ValueError) else type(e).__name__)
attempt(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (99999, 99999)))
attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)))
attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20))
ctypes.CDLL(None).mlockall(3)
