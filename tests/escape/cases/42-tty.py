# threat: 42 43 nothing is typed on a terminal
# forbidden: ioctl
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for request in (0x5412, 0x541c, 0x5412 | 1 << 32, 0x541c | 1 << 32):
    assert libc.ioctl(0, ctypes.c_ulong(request), b"x") == -1 and ctypes.get_errno() == 1, hex(request)
