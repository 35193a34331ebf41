# threat: 29 a segmentation fault is reported as that
# outcome: signal
# signal: 11
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
import ctypes; ctypes.string_at(1)
