# threat: 12 one byte per 2 MiB of a terabyte
# outcome: memory
# limit: memory_mib=64
# without-memory: exit 1
# gvisor: memory; found by looking
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import mmap
m = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | 0x4000)
for at in range(0, 1 << 40, 4096): m[at] = 1
