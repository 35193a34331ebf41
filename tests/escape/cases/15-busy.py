# threat: 15 busy loop: the wall limit is kept
# outcome: timeout_wall
# limit: wall_ms=200
# overshoot: 10
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
while True: pass
