# threat: 3 a thousand such children at the timeout
# outcome: timeout_wall
# limit: processes=2000 wall_ms=2500 memory_mib=1024
# packages-limit: memory_mib=2048
# slower: 4500
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import signal, time
for i in range(1000):
    if os.fork() == 0:
        for s in range(1, 65):
            try: signal.signal(s, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.setsid()
        while True: time.sleep(100)
time.sleep(100)
