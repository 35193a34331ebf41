# threat: 14 a child runs out of memory, the parent exits 0
# outcome: memory
# limit: memory_mib=64
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
if os.fork() == 0:
    import time
    x = [bytearray(1 << 20) for _ in range(100)]
    time.sleep(3)
    os._exit(0)
os.wait()
