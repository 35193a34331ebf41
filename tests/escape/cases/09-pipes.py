# threat: 9 200 full pipes of 1 MiB
# alone: the kernel counts the pages of pipes for each user
# outcome: exit
# limit: memory_mib=128 open_files=512
# gvisor: memory; what lies in pipes is memory of that kernel, and counted
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import fcntl
full = 0
try:
    for i in range(200):
        r, w = os.pipe()
        os.set_blocking(w, False)
        try: fcntl.fcntl(w, 1031, 1 << 20)
        except PermissionError: pass
        try: full += os.write(w, bytes(1 << 20))
        except BlockingIOError: pass
except OSError as e: print("stopped", e.errno)
assert full < (200 << 20), full
