# threat: 5 ten gigabytes
# outcome: memory
# without-memory: exit 1
# limit: memory_mib=64
# gvisor: memory; the limit is found by looking, before the program is refused memory
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
x = bytearray(10 ** 10)
