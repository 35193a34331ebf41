# threat: 7 the work folder and /tmp share one limit
# outcome: disk_limit
# exit: 1
# limit: disk_mib=4
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
with open("/tmp/a", "wb") as f: f.write(bytes(3 << 20))
with open("/work/b", "wb") as f: f.write(bytes(3 << 20))
