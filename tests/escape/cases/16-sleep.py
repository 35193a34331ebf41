# threat: 16 sleep for ever
# outcome: timeout_wall
# limit: wall_ms=300
# slower: 2500
# cpu-below: 150
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import time
while True:
    try: time.sleep(1000)
    except BaseException: pass
