# threat: 76 nor part of its recorded peak
# limit: memory_mib=64
# out: hi
# peak-below-mib: 16
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
print("hi")
