# threat: 1 fork bomb
# outcome: process_limit
# limit: processes=32 wall_ms=800
# slower: 2500
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
while True:
    try: os.fork()
    except OSError: pass
