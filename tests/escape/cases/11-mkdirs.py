# threat: 11 400,000 folders
# outcome: disk_limit
# limit: inodes=2000
# gvisor: timeout_wall or timeout_cpu; folders are bounded by memory, not by number
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
for i in range(400000): os.mkdir(f"/work/{i}")
