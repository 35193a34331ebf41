# threat: 65 as many denied calls as it can make
# outcome: timeout_wall
# forbidden: unshare
# limit: wall_ms=700
# slower: 3000
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes
libc = ctypes.CDLL(None)
os.fork(); os.fork()
while True: libc.unshare(0x10000000)
