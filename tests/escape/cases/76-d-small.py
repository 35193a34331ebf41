# threat: 76 nor part of its recorded peak
# alone: what it leaves is counted for its user until it is collected
# limit: memory_mib=64
# out: hi
# peak-below-mib: 16
import os, sys
(os.getpid(), os.uname().nodename) == (2, "assay") or sys.exit("refuses to run outside the sandbox")
print("hi")
