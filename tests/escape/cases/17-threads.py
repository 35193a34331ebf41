# threat: 17 CPU time counts the tree
# outcome: timeout_cpu
# limit: cpu_ms=500 wall_ms=8000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
for i in range(16):
    if os.fork() == 0:
        while True: pass
while True: pass
