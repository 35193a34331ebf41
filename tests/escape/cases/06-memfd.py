# threat: 6 memory in a memfd
# outcome: memory
# limit: memory_mib=64
# cgroup-only: memory
import os, sys
os.uname().nodename == "assay" or sys.exit("refuses to run outside the sandbox")
fd = os.memfd_create("x")
for i in range(1024): os.write(fd, bytes(1 << 20))
