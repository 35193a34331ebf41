# threat: 7 what filled the disk is gone at once, and it is known that it was full
# outcome: disk_limit
# exit: 1
# tries: 3
# gvisor: exit 1 or disk_limit 1; a full disk is seen by looking, and was not full any more
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
try:
    with open("/work/a", "wb") as f:
        while True: f.write(bytes(1 << 20))
except OSError:
    os.remove("/work/a")
    sys.exit(1)
