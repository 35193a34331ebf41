# threat: 12 one byte per 2 MiB of a terabyte
# outcome: memory
# limit: memory_mib=64
# cgroup-only: memory
import os, sys
os.uname().nodename == "assay" or sys.exit("refuses to run outside the sandbox")
import mmap
m = mmap.mmap(-1, 1 << 40, flags=mmap.MAP_PRIVATE | 0x4000)
for at in range(0, 1 << 40, 4096): m[at] = 1
