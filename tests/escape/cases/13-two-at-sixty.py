# threat: 13 two processes at 60 % each: one limit for the tree
# alone: what others have read is not charged to it
# outcome: memory
# limit: memory_mib=100
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import time
pid = os.fork()
x = bytearray(b"x") * (60 << 20)
if pid == 0: time.sleep(2)
else: os.wait()
