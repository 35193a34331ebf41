# threat: 23 descriptors exhausted, in 30 processes at once
# out: 30 times EMFILE
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import errno
def exhaust():
    try:
        for i in range(100000): os.dup(0)
    except OSError as e: return e.errno == errno.EMFILE
pids = [os.fork() or os._exit(0 if exhaust() else 1) for i in range(30)]
print(sum(os.waitpid(p, 0)[1] == 0 for p in pids), "times EMFILE")
