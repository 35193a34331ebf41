# threat: 6 memory in a memfd
# outcome: memory
# limit: memory_mib=64
# without-memory: exit 1
# gvisor: memory; a memfd is counted as memory, and so may be had
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
fd = os.memfd_create("x")
for i in range(1024): os.write(fd, bytes(1 << 20))
