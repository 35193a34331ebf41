# threat: 8 System V shared memory, never detached
# outcome: memory
# limit: memory_mib=64
# without-memory: exit 1
# gvisor: memory; shared memory is memory of that kernel, and counted
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
size = 256 << 20
at = libc.shmat(libc.shmget(0, size, 0o1600), None, 0)
if at is None or at == ctypes.c_void_p(-1).value: sys.exit(1)
ctypes.memset(at, 1, size)
