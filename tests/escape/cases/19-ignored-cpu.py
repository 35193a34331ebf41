# threat: 19 TERM, INT and XCPU ignored: the CPU limit
# outcome: timeout_cpu
# limit: cpu_ms=200 wall_ms=5000
# slower: 2500
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import signal
for n in range(1, 65):
    try: signal.signal(n, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
