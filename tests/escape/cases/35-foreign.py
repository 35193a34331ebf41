# threat: 35 a system call of another architecture
# outcome: forbidden_syscall
# forbidden-arch: i386
# gvisor: exit 0; there are no calls of another architecture
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes, mmap, platform
if platform.machine() != "x86_64": os.kill(os.getpid(), 9)
m = mmap.mmap(-1, 4096, prot=7)
m.write(bytes([0xb8, 21, 0, 0, 0, 0xbb, 0, 0, 0, 0, 0xcd, 0x80, 0xc3]))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()
