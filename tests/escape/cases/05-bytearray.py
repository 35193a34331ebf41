# threat: 5 ten gigabytes
# outcome: memory
# limit: memory_mib=64
# cgroup-only: memory
import os, sys
os.uname().nodename == "assay" or sys.exit("refuses to run outside the sandbox")
x = bytearray(10 ** 10)
