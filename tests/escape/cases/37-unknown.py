# threat: 33 37 clone3 and unknown numbers: ENOSYS, and life goes on
# out: 38
# out: 38
# out: 42
# gvisor: exit 0; unknown calls are refused as others are
# gvisor-out: 38
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes, threading
libc = ctypes.CDLL(None, use_errno=True)
for number in (435, 9999):
    libc.syscall(ctypes.c_long(number), 0, 0); print(ctypes.get_errno(), flush=True)
t = threading.Thread(target=print, args=(42,)); t.start(); t.join()
